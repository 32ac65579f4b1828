/** An agent that encrypts, and other nodes without a session and without keys: REST, metrics, netctl. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EncryptionDocument } from '#documents/encryption.ts';
import type { NodeList } from '#documents/nodes.ts';
import { documents } from '#infra/support-bundle/contents.ts';
import { ExitCode } from '#netctl/command.ts';
import { netctlIn } from '#test/netctl/support/in-process.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { keysInMemory } from '#vpp/wireguard/key-file.ts';
import { type RunningAgent, startAgent, until } from './harness.ts';
import { post } from './local-request.ts';
import { nodeWithNics, section, tellOfNode } from './scenario.ts';

const keysOf = (name: string) => [0, 1].map((slot) => testKeyPair(`${name} ${slot}`).publicKey);

describe('an agent that encrypts', { timeout: 60_000 }, () => {
  let running: RunningAgent;
  const keyFile = keysInMemory();
  const recordings = temporaryFolder('encryption');
  const encryption = async () =>
    (await running.get('/contiv/v1/encryption')).body as EncryptionDocument;

  before(async () => {
    const node = await nodeWithNics();
    for (const key of keysOf('node3')) node.vpp.wireguardLinks.setSilent(key, true);
    for (const [at, keys] of [keysOf('node2'), keysOf('node3'), undefined].entries()) {
      const id = at + 2;
      const vpp = `192.168.16.${id}/24`;
      await tellOfNode(node, `node${id}`, {
        address: `172.16.0.${id + 4}`,
        id,
        vpp,
        ...(keys && { keys }),
      });
    }
    running = await startAgent(node, {
      contiv: { nodeToNodeTransport: 'wireguard', nodeConfig: [section({})] },
      controller: { 'record-run': recordings },
      logLevel: 'debug',
      keyFile,
    });
    await until(async () => (await encryption()).otherNodes.encrypted === 1);
  });
  after(() => running?.stop());

  function netctl(name: string) {
    const nodes = [{ name: 'node1', port: running.agent.port }];
    return netctlIn(name, { nodes });
  }

  it('tells how packets to each of the others are protected', async () => {
    const { otherNodes } = await encryption();
    const [{ seconds = -1 } = {}] = otherNodes.namesWithoutSession;
    assert.ok(seconds >= 0 && seconds < 60);
    assert.deepEqual(otherNodes, {
      encrypted: 1,
      withoutSession: 1,
      isolated: 1,
      inClearText: 0,
      unreachable: 0,
      namesWithoutSession: [{ name: 'node3', seconds }],
      namesIsolated: ['node4'],
      namesInClearText: [],
    });
    const { nodes } = (await running.get('/contiv/v1/nodes')).body as NodeList;
    assert.deepEqual(
      nodes.map(({ link, sessions }) => [link?.encryption, sessions.length]),
      [
        [undefined, 0],
        ['encrypted', 2],
        ['no-session', 2],
        ['isolated', 0],
      ],
    );
  });

  it('has metrics of it', async () => {
    const text = await (await fetch(`http://127.0.0.1:${running.agent.port}/metrics`)).text();
    assert.match(text, /^contiv_encryption_nodes\{state="encrypted"\} 1$/m);
    assert.match(text, /^contiv_encryption_no_session_seconds\{node="node3"\} [\d.]+$/m);
    assert.match(text, /^contiv_encryption_isolated\{node="node4"\} 1$/m);
    assert.match(text, /^contiv_encryption_key_age_seconds\{interface="wireguard0"\} [\d.]+$/m);
    assert.match(text, /^contiv_encryption_key_lifetime_seconds\{interface="wireguard1"\} 86400$/m);
  });

  it('shows its private keys nowhere', async () => {
    await post(running.localSocket, '/scheduler/downstream-resync?verbose=1');
    const found = await keyFile.read();
    assert.ok('keys' in found);
    const secrets = found.keys.flatMap(({ privateKey }) => {
      const bytes = Buffer.from(privateKey, 'base64');
      return [privateKey, bytes.toString('hex'), bytes.join()];
    });
    const check = (text: string, where: string) => {
      for (const secret of secrets) assert.equal(text.includes(secret), false, where);
    };
    const { publicKey = '' } = (await encryption()).keys[0] ?? {};
    let shown = 0;
    const dump = '/scheduler/dump?view=SB&descriptor=vpp-interface';
    for (const path of [...Object.values(documents), '/contiv/v1/encryption', dump]) {
      const response = await fetch(`http://127.0.0.1:${running.agent.port}${path}`);
      const text = await response.text();
      check(text, path);
      if (text.includes(publicKey)) shown++;
    }
    assert.ok(shown > 3, `${shown} documents with the public key`);
    await post(running.localSocket, '/contiv/v1/encryption/replace-keys');
    await until(() => running.agent.controller.isIdle);
    check(running.logged.map((line) => JSON.stringify(line)).join('\n'), 'log');
    check(running.printed.join('\n'), 'output');
    const files = readdirSync(recordings);
    assert.ok(files.length > 0);
    for (const file of files) check(readFileSync(join(recordings, file), 'utf8'), file);
  });

  it('is shown by netctl', async () => {
    const words = /1 encrypted; 1 without session: node3 for \d+ s; 1 without key: node4/;
    for (const name of ['nodes', 'encryption']) {
      const { run, text } = netctl(name);
      assert.equal(await run(), ExitCode.Success);
      assert.match(text(), words);
    }
    const ipam = netctl('ipam');
    assert.equal(await ipam.run(), ExitCode.Success);
    assert.match(ipam.text(), / 192\.168\.30\.1 /);
  });
});
