/**
 * Generates the bundled definitions and the TypeScript types from VPP's API definitions and the list
 * of used messages (used-messages.ts).
 *
 *     node scripts/gen-binapi.ts [--check] [folder with *.api.json]
 *
 * `--check` writes nothing and fails when a file differs. If the folder does not exist, only the
 * types are generated, from the bundled definitions.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Definitions, readDefinitions } from '#vpp/binapi/definitions.ts';
import { definitionsText, selectDefinitions } from '#vpp/binapi/gen/select.ts';
import { targetDefinitions } from '#vpp/binapi/gen/target-release.ts';
import { enumsText, messagesText } from '#vpp/binapi/gen/typescript.ts';
import { sessionMessages, usedMessages } from '#vpp/binapi/used-messages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const room = `${root}src/vpp/binapi`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } },
});
const releases = `${root}../shared/vpp-api`;
const folder = positionals[0] ?? releases;

const files = new Map<string, string>();
let definitions: Definitions;
if (existsSync(folder)) {
  const all = await (folder === releases ? targetDefinitions : readDefinitions)(folder);
  definitions = selectDefinitions(all, [...sessionMessages, ...usedMessages]);
  files.set(`${room}/definitions.gen.json`, definitionsText(definitions));
} else {
  console.log(`${folder} does not exist: generating only the types from the bundled definitions`);
  definitions = JSON.parse(readFileSync(`${room}/definitions.gen.json`, 'utf8'));
}
files.set(`${room}/enums.gen.ts`, enumsText(definitions));
files.set(`${room}/messages.gen.ts`, messagesText(definitions, sessionMessages));

for (const [file, text] of files) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (!values.check) {
    writeFileSync(file, text);
    console.log(`written: ${file}`);
  } else {
    console.error(`${file} is out of date: run node scripts/gen-binapi.ts`);
    process.exitCode = 1;
  }
}
