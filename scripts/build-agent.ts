/**
 *     npm run build:agent
 *
 * Builds the agent for the image, as a few files in dist/cmd/agent. They need `package.json`, `examples`
 * and the native addons in `node_modules`.
 */
import { buildAgent } from './lib/agent-bundle.ts';

console.log(await buildAgent());
