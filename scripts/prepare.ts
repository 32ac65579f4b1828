/**
 * Builds the web page at the end of `npm ci`, and before `npm test`, whose browsers would show an old one. Without
 * the development dependencies (`--omit=dev`) there is no page: the agent says at `/ui/` how to build it.
 */
import { findPackageJSON } from 'node:module';

function isInstalled(name: string): boolean {
  try {
    return findPackageJSON(name, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}

if (isInstalled('esbuild')) await import('./build-ui.ts');
else console.log('without the web page: esbuild is not installed');
