/**
 *     npm run docs
 *
 * Brings the tables of docs/ and the files of config/ in line with the source. Cells that are
 * written by hand stay; new ones say so and are refused by the tests until somebody writes them.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { documents, isCurrent } from './lib/docs/documents.ts';

for (const document of await documents()) {
  if (isCurrent(document)) continue;
  if (document.text === undefined) rmSync(document.path);
  else writeFileSync(document.path, document.text);
  console.log(`${document.text === undefined ? 'removed' : 'written'}: ${document.path}`);
}
