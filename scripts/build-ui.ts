/**
 *     npm run build:ui
 *
 * Builds the web page of the folder `ui` in dist/ui; `npm ci` does it, too.
 */
import { buildPage, PAGE } from './lib/page.ts';

await buildPage();
console.log(PAGE);
