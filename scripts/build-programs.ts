/**
 *     npm run build:programs
 *
 * Builds what the images have: each program as a few files in dist/cmd, and the packages with native
 * addons for this machine in dist/node_modules. They need `package.json`, and the agent `examples`.
 */
import { buildProgram, programs } from './lib/bundles.ts';
import { copyNativePackages } from './lib/native-packages.ts';

for (const name of programs()) console.log(await buildProgram(name));
console.log(copyNativePackages());
