// Package schema names the form of all JSON that the module prints.
package schema

// Name stands in the field schema of each document and line. It changes when a field's meaning
// does, not when fields are added.
const Name = "halfspace/1"
