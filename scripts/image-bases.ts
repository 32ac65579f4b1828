/**
 *     npm run image:bases
 *
 * Makes the root file systems with which test/image builds the images, where no container engine is:
 * in the user's cache folder, with debootstrap, as root. What exists stays.
 */
import { existsSync } from 'node:fs';
import { baseFolder, distributionNames, makeBase } from './lib/image-bases.ts';

for (const name of distributionNames) {
  if (!existsSync(baseFolder(name))) makeBase(name);
  console.log(baseFolder(name));
}
