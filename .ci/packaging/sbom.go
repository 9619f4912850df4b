package main

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// A module is one that the programs contain, or the Go distribution, whose path is std.
type module struct {
	path, version, sum string
	dir                string // where its source is
	targets            []target
	licence            string // as an SPDX expression; "" is not known
	notices            []file // the files that state it
}

// choices are the modules whose files leave a choice of licences, each with the one that is chosen
// here and the file that has its text.
var choices = map[string]struct{ licence, file string }{
	"github.com/golang/freetype": {"FTL", "licenses/ftl.txt"},
}

// readLicences finds the files that state a module's licence, and which it is. A file counts where
// three quarters of its words or more are of licences that are known.
func (m *module) readLicences() error {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return err
	}
	var ids []string
	for _, e := range entries {
		if !e.Type().IsRegular() || !statesLicence(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
		if err != nil {
			return err
		}
		m.notices = append(m.notices, file{e.Name(), 0o644, data})
		if found := licensecheck.Scan(data); found.Percent >= 75 {
			for _, match := range found.Match {
				if !slices.Contains(ids, match.ID) && match.ID != "GooglePatentsFile" { // a grant
					ids = append(ids, match.ID)
				}
			}
		}
	}
	if choice, ok := choices[m.path]; ok {
		data, err := os.ReadFile(filepath.Join(m.dir, choice.file))
		if err != nil {
			return err
		}
		m.notices = append(m.notices, file{choice.file, 0o644, data})
		ids = []string{choice.licence}
	}
	if len(m.notices) == 0 {
		return fmt.Errorf("%s %s: no file in %s states a licence", m.path, m.version, m.dir)
	}
	slices.Sort(ids)
	m.licence = strings.Join(ids, " AND ")
	return nil
}

func statesLicence(name string) bool {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, ".go") {
		return false
	}
	for _, begin := range []string{"licen", "copying", "notice", "unlicen", "third", "patents"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// noticesOf are the licences of all that the programs contain of others, one after another.
func noticesOf(modules []module) []byte {
	var b bytes.Buffer
	b.WriteString("The programs contain the modules below. Each is under the licence that follows " +
		"it.\n")
	for _, m := range modules {
		for _, f := range m.notices {
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.path, m.version,
				f.name, bytes.TrimRight(f.data, "\n"))
		}
	}
	return b.Bytes()
}

// The types below are those of SPDX 2.3 in JSON as far as they are used here:
// https://spdx.github.io/spdx-spec/v2.3.

type spdxDocument struct {
	SPDXID            string             `json:"SPDXID"`
	Version           string             `json:"spdxVersion"`
	DataLicense       string             `json:"dataLicense"`
	Name              string             `json:"name"`
	DocumentNamespace string             `json:"documentNamespace"`
	CreationInfo      spdxCreation       `json:"creationInfo"`
	Packages          []spdxPackage      `json:"packages"`
	Files             []spdxFile         `json:"files"`
	Relationships     []spdxRelationship `json:"relationships"`
}

type spdxCreation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	SPDXID           string    `json:"SPDXID"`
	Name             string    `json:"name"`
	VersionInfo      string    `json:"versionInfo"`
	DownloadLocation string    `json:"downloadLocation"`
	FilesAnalyzed    bool      `json:"filesAnalyzed"`
	LicenseConcluded string    `json:"licenseConcluded"`
	LicenseDeclared  string    `json:"licenseDeclared"`
	CopyrightText    string    `json:"copyrightText"`
	SourceInfo       string    `json:"sourceInfo,omitempty"`
	Comment          string    `json:"comment,omitempty"`
	ExternalRefs     []spdxRef `json:"externalRefs"`
}

type spdxRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type spdxFile struct {
	SPDXID           string         `json:"SPDXID"`
	FileName         string         `json:"fileName"`
	FileTypes        []string       `json:"fileTypes"`
	Checksums        []spdxChecksum `json:"checksums"`
	LicenseConcluded string         `json:"licenseConcluded"`
	CopyrightText    string         `json:"copyrightText"`
}

type spdxChecksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type spdxRelationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// noAssertion is SPDX's word for what was not looked at.
const noAssertion = "NOASSERTION"

// sbomOf lists what the programs were made of as SPDX 2.3: the modules with their versions and
// licences, the Go distribution, and the programs with their sums.
func sbomOf(p product, modules []module, programs map[target][]byte) ([]byte, error) {
	const self = "SPDXRef-halfspace"
	version := strings.TrimPrefix(p.version, "v")
	doc := spdxDocument{
		SPDXID: "SPDXRef-DOCUMENT", Version: "SPDX-2.3", DataLicense: "CC0-1.0",
		Name: "halfspace-" + version,
		CreationInfo: spdxCreation{p.when.Format("2006-01-02T15:04:05Z"),
			[]string{"Organization: The halfspace authors", "Tool: halfspace-packaging"}},
		Relationships: []spdxRelationship{{"SPDXRef-DOCUMENT", "DESCRIBES", self}},
		Packages: []spdxPackage{{SPDXID: self, Name: "halfspace", VersionInfo: version,
			DownloadLocation: source, LicenseConcluded: "MIT", LicenseDeclared: "MIT",
			CopyrightText: "Copyright (c) 2026 The halfspace authors",
			ExternalRefs:  []spdxRef{purl(modulePath, p.version)}}},
	}
	for _, m := range modules {
		doc.addModule(self, m, len(programs))
	}
	targets := make([]target, 0, len(programs))
	for t := range programs {
		targets = append(targets, t)
	}
	slices.SortFunc(targets, func(a, b target) int { return cmp.Compare(a.String(), b.String()) })
	for _, t := range targets {
		program := programs[t]
		id := "SPDXRef-program-" + t.os + "-" + t.arch
		doc.Files = append(doc.Files, spdxFile{SPDXID: id,
			FileName: "./" + t.archive(p.version) + "/" + t.program(), FileTypes: []string{"BINARY"},
			Checksums: []spdxChecksum{{"SHA1", fmt.Sprintf("%x", sha1.Sum(program))},
				{"SHA256", strings.TrimPrefix(digest(program), "sha256:")}},
			LicenseConcluded: noAssertion, CopyrightText: noAssertion})
		doc.Relationships = append(doc.Relationships, spdxRelationship{self, "CONTAINS", id})
	}
	// A document's name space is its own: it has the sum of all else that the document says.
	said, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	sum := strings.TrimPrefix(digest(said), "sha256:")
	doc.DocumentNamespace = source + "/spdx/" + doc.Name + "-" + sum[:16]
	b, err := json.MarshalIndent(doc, "", "  ")
	return append(b, '\n'), err
}

// addModule adds a module to a document on as many programs.
func (d *spdxDocument) addModule(self string, m module, programs int) {
	id := "SPDXRef-module-" + strings.Map(func(r rune) rune {
		if strings.ContainsRune("/_~", r) {
			return '-'
		}
		return r
	}, m.path)
	licence := m.licence
	if licence == "" {
		licence = noAssertion
	}
	pkg := spdxPackage{SPDXID: id, Name: m.path, VersionInfo: m.version,
		DownloadLocation: noAssertion, LicenseConcluded: licence, LicenseDeclared: licence,
		CopyrightText: noAssertion, ExternalRefs: []spdxRef{purl(m.path, m.version)}}
	if m.sum != "" {
		pkg.SourceInfo = "go.sum has " + m.sum
	}
	if len(m.targets) < programs {
		var names []string
		for _, t := range m.targets {
			names = append(names, t.String())
		}
		pkg.Comment = "Only in the programs for " + strings.Join(names, ", ") + "."
	}
	d.Packages = append(d.Packages, pkg)
	d.Relationships = append(d.Relationships, spdxRelationship{self, "DEPENDS_ON", id})
}

// purl is what scanners look a module up by.
func purl(path, version string) spdxRef {
	return spdxRef{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" +
		strings.ReplaceAll(version, "+", "%2B")}
}
