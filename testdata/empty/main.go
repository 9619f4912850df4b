// Command empty is what TestImportCost compares importer with.
package main

func main() {}
