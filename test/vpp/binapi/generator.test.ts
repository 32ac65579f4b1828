import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withoutShared } from '#test/support/requirements.ts';
import { bundledDefinitions } from '#vpp/binapi/bundled-definitions.ts';
import { crcOf, readDefinitions } from '#vpp/binapi/definitions.ts';
import { definitionsText, selectDefinitions } from '#vpp/binapi/gen/select.ts';
import { targetDefinitions } from '#vpp/binapi/gen/target-release.ts';
import { enumsText, messagesText } from '#vpp/binapi/gen/typescript.ts';
import { sessionMessages, usedMessages } from '#vpp/binapi/used-messages.ts';
import { sharedFolder } from './vectors.ts';

const room = fileURLToPath(new URL('../../../src/vpp/binapi', import.meta.url));
const stands = (file: string) => readFileSync(`${room}/${file}`, 'utf8');

test('the generated types match the bundled definitions', () => {
  assert.equal(messagesText(bundledDefinitions, sessionMessages), stands('messages.gen.ts'));
  assert.equal(enumsText(bundledDefinitions), stands('enums.gen.ts'));
});

test('the bundle contains exactly the used messages', () => {
  const names = [...sessionMessages, ...usedMessages];
  assert.deepEqual(Object.keys(bundledDefinitions.services), [...names].sort());
  assert.equal(new Set(names).size, names.length);
});

test('the bundle matches the definitions of VPP 26.06', {
  skip: withoutShared('vpp-api'),
}, async () => {
  const all = await targetDefinitions(`${sharedFolder}/vpp-api`);
  const selected = selectDefinitions(all, [...sessionMessages, ...usedMessages]);
  assert.equal(definitionsText(selected), stands('definitions.gen.json'));
});

test('used messages have the same CRC in all three releases', {
  skip: withoutShared('vpp-api'),
}, async () => {
  for (const release of ['v24.10', 'v25.10']) {
    const { messages } = await readDefinitions(`${sharedFolder}/vpp-api/${release}`);
    const theirs = new Map(messages.map((message) => [message[0], crcOf(message)]));
    for (const message of bundledDefinitions.messages) {
      const crc = theirs.get(message[0]);
      // the definitions of the punt module are not among those of the older releases, v24.10
      // has no message that reads a feature, those of source NAT in IPv6 are new in v26.06, and neither
      // has those of the flow probe (v24.10 to v26.10 have the same CRCs)
      if (crc === undefined)
        assert.match(
          message[0],
          /punt|^feature_is_enabled|^cnat_(set_)?snat_addresses|^flowprobe_|ipfix_exporter/,
          `${release} ${message[0]}`,
        );
      else assert.equal(crc, crcOf(message), `${release} ${message[0]}`);
    }
  }
});

test('an undefined message is rejected, and the error names it', () => {
  assert.throws(() => selectDefinitions(bundledDefinitions, ['warp_drive_add']), /warp_drive_add/);
});
