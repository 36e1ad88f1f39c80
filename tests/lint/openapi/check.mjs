// Validates an OpenAPI document: node check.mjs DOCUMENT_JSON
import {readFileSync} from 'node:fs';
import {Validator} from '@seriousme/openapi-schema-validator';

const result = await new Validator().validate(JSON.parse(readFileSync(process.argv[2], 'utf8')));
console.log(result.valid ? 'the document is valid' : JSON.stringify(result.errors, null, 4));
process.exit(result.valid ? 0 : 1);
