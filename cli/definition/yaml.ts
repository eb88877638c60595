/**
 * YAML, for those who ask for it: loading it takes a while. By these names, since of a package in CommonJS that is
 * loaded later the files that `soda` is built into have a default only.
 */
export { parse, parseAllDocuments, stringify } from 'yaml';
