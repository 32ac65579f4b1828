/**
 *     npm run build:agent
 *
 * Builds the agent and contiv-ksr for the image, as a few files in dist/cmd/agent and dist/cmd/ksr. They
 * need `package.json`, `examples` and the native addons in `node_modules`.
 */
import { buildAgent, buildKsr } from './lib/agent-bundle.ts';

console.log(await buildAgent());
console.log(await buildKsr());
