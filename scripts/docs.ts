/**
 *     npm run docs
 *
 * Updates the tables of docs/ and the files of config/ from the source. Hand-written cells are kept;
 * a new one contains a placeholder that the tests reject until it is written.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { documents, isCurrent } from './lib/docs/documents.ts';

for (const document of await documents()) {
  if (isCurrent(document)) continue;
  if (document.text === undefined) rmSync(document.path);
  else writeFileSync(document.path, document.text);
  console.log(`${document.text === undefined ? 'removed' : 'written'}: ${document.path}`);
}
