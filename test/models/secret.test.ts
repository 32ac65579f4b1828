import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { inspect, isDeepStrictEqual } from 'node:util';
import protobuf from 'protobufjs';
import { vppInterfaceModel } from '#models/vpp/interface.ts';

const memifWith = (secret: string) =>
  vppInterfaceModel.parse({
    name: 'memif1',
    type: 'MEMIF',
    memif: { socket_filename: '/run/memif.sock', secret },
  });

/** Names of fields that hold a secret; the keys of the configuration are none. */
const SECRET_NAME = /secret|pass(word|phrase|wd)|token|credential|psk|private|_key$|^key$/;
const noSecrets = new Set([
  '.ligato.vpp.interfaces.WireguardLink.public_key',
  '.ligato.vpp.wireguard.Peer.public_key',
  '.vppnode.WireguardKey.public_key',
  // keys of values in the datastore, of options, of labels
  '.ligato.generic.ModelDetail.Option.key',
  '.ligato.generic.UpdateResult.key',
  '.namespace.Namespace.Label.key',
  '.node.Node.Label.key',
  '.pod.Pod.Label.key',
  '.policy.Policy.Label.key',
  '.policy.Policy.LabelSelector.LabelExpression.key',
]);

describe('a secret of a model', () => {
  it('is masked in each text of its value, and only the datastore has it', () => {
    const value = memifWith('marked-secret');
    const wire = Buffer.from(vppInterfaceModel.encodeWire(value)).toString('latin1');
    const texts = [
      JSON.stringify(value),
      JSON.stringify(vppInterfaceModel.toJson(value)),
      inspect(value, { depth: 9, showHidden: true }),
      `${value.memif?.secret}`,
      wire,
    ];
    for (const text of texts) {
      assert.doesNotMatch(text, /marked/);
      assert.match(text, /\*\*\*[0-9a-f]{16}/);
    }
    const stored = vppInterfaceModel.toStored(value);
    assert.match(JSON.stringify(stored), /"secret":"marked-secret"/);
    assert.equal(vppInterfaceModel.parse(stored).memif?.secret.reveal(), 'marked-secret');
  });

  it('is compared by its text', () => {
    assert.ok(isDeepStrictEqual(memifWith('one'), memifWith('one')));
    assert.ok(!isDeepStrictEqual(memifWith('one'), memifWith('other')));
    assert.ok(!isDeepStrictEqual(memifWith('one'), memifWith('')));
    assert.equal(memifWith('').memif?.secret, memifWith('').memif?.secret);
  });

  it('of a document stands for itself', () => {
    const shown = JSON.parse(JSON.stringify(memifWith('one')));
    const read = vppInterfaceModel.parse(shown);
    assert.ok(read.memif?.secret.isMask);
    assert.deepEqual(JSON.parse(JSON.stringify(read)), shown);
  });

  it('is in no error about it', () => {
    for (const secret of [['marked-secret'], { marked: 1 }, 'marked-\ud800', 0x6d61726b]) {
      const memif = { secret } as object;
      assert.throws(
        () => vppInterfaceModel.parse({ name: 'memif1', type: 'MEMIF', memif }),
        (error: Error) => !/mark|1835102827/.test(inspect(error)),
      );
    }
  });

  it('is each field with the name of one', () => {
    const unmarked: string[] = [];
    let marked = 0;
    const visit = (space: protobuf.NamespaceBase): void => {
      for (const member of space.nestedArray) {
        if (member instanceof protobuf.Type)
          for (const field of member.fieldsArray) {
            if (field.options?.['debug_redact'] === true) marked++;
            else if (['string', 'bytes'].includes(field.type) && SECRET_NAME.test(field.name))
              unmarked.push(field.fullName);
          }
        if (member instanceof protobuf.Namespace) visit(member);
      }
    };
    for (const folder of ['src/models', 'src/kubernetes/models'])
      for (const name of globSync('**/*.proto', { cwd: folder })) {
        const root = new protobuf.Root();
        visit(
          protobuf.parse(readFileSync(`${folder}/${name}`, 'utf8'), root, { keepCase: true }).root,
        );
      }
    assert.deepEqual(
      unmarked.filter((name) => !noSecrets.has(name)),
      [],
    );
    assert.ok(marked >= 1);
  });
});
