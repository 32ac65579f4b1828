/** `npm run build:package`: the package for authors of plugins, in dist/package, for `npm pack` and `npm publish`. */
import { join } from 'node:path';
import { buildPluginPackage } from './lib/plugin-package.ts';

await buildPluginPackage(join(import.meta.dirname, '../dist/package'));
