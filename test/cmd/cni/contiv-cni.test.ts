/** contiv-cni with an agent on simulated VPP and Linux. */
import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { errorKinds } from '#plugins/podmanager/runtime-call/cni-error.ts';
import {
  CNI_PLUGINS,
  declareUnless,
  withoutCniPlugins,
  withoutCompiler,
} from '#test/support/requirements.ts';
import { makeNode, type RunningAgent, startAgent, until } from '../agent/harness.ts';
import { buildExecutable, builds } from './executable.ts';
import { folder, podArgs, type Runtime, runtimeOf } from './runtime.ts';

let allocations = 0;

for (const [build, options] of Object.entries(builds))
  await declareUnless(withoutCompiler(), `contiv-cni, ${build} build`, () =>
    describe(`contiv-cni, ${build} build`, () => declare(runtimeOf(buildExecutable(options)))),
  );

function declare(run: Runtime): void {
  describe('with an agent', () => {
    let running: RunningAgent;
    let base: object;
    before(async () => {
      running = await startAgent(makeNode());
      base = { cniVersion: '1.1.0', name: 'k8s', type: 'contiv-cni', grpcServer: running.socket };
      await until(async () => (await run(base, { command: 'STATUS' })) === undefined);
    });
    after(() => running.stop());

    function pod(name: string) {
      const netns = `/run/netns/${name}`;
      running.node.linux.addNamespace(netns);
      return { container: `id-${name}`, ifname: 'eth0', netns, args: podArgs(name) };
    }

    for (const version of ['0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'])
      it(`supports version ${version}`, async () => {
        const one = pod(`speaks-${version.replaceAll('.', '-')}`);
        const config = { cniVersion: version };
        const added = await run(base, { command: 'ADD', ...one, config });
        const address = String(added?.ips?.[0]?.['address']);
        assert.match(address, /^10\.1\.1\.\d+\/32$/);
        const mac = added?.interfaces?.[0]?.mac ?? '';
        assert.match(mac, /^02(:[\da-f]{2}){5}$/);
        assert.deepEqual(added, {
          cniVersion: version,
          interfaces: [{ name: 'eth0', mac, sandbox: one.netns }],
          ips: [
            {
              ...(version < '1' && { version: '4' }),
              address,
              gateway: '10.1.1.1',
              interface: 0,
            },
          ],
          routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }],
          dns: {},
        });
        const check = { ...config, prevResult: added };
        const checked = await run(base, { command: 'CHECK', ...one, config: check });
        if (version < '0.4') assert.equal(checked?.code, errorKinds.version.code);
        else assert.equal(checked, undefined);
        assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
        assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
      });

    for (const version of ['', '0.1.0', '0.2.0'])
      it(`supports ${version === '' ? 'a configuration without a version' : `version ${version}`}`, async () => {
        const one = pod(`speaks-${version.replaceAll('.', '-')}old`);
        const config = { cniVersion: version === '' ? undefined : version };
        const added = await run(base, { command: 'ADD', ...one, config });
        const ip = String((added?.['ip4'] as { ip?: string } | undefined)?.ip);
        assert.match(ip, /^10\.1\.1\.\d+\/32$/);
        assert.deepEqual(added, {
          cniVersion: version || '0.1.0',
          ip4: { ip, gateway: '10.1.1.1', routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }] },
          dns: {},
        });
        assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
      });

    it('returns the same result for a repeated ADD', async () => {
      const one = pod('again');
      const first = await run(base, { command: 'ADD', ...one });
      assert.deepEqual(await run(base, { command: 'ADD', ...one }), first);
      await run(base, { command: 'DEL', ...one });
    });

    it('reports a damaged attachment on CHECK', async () => {
      const one = pod('damaged');
      const prevResult = await run(base, { command: 'ADD', ...one });
      const check = { command: 'CHECK', ...one, config: { prevResult } };
      assert.equal(await run(base, check), undefined);
      const other = { ...prevResult, ips: [{ address: '10.9.9.9/32' }] };
      const wrong = await run(base, { ...check, config: { prevResult: other } });
      assert.equal(wrong?.code, errorKinds.refused.code);
      assert.match(wrong?.msg ?? '', /has 10\.1\.1\.\d+, not 10\.9\.9\.9/);
      await run(base, { command: 'DEL', ...one });
      assert.match((await run(base, check))?.msg ?? '', /the attachment does not exist/);
    });

    it('deletes attachments that are unknown to the runtime on GC, and releases their addresses', async () => {
      const kept = pod('kept');
      const stale = pod('stale');
      const [first, second] = [kept, stale].map((one) => run(base, { command: 'ADD', ...one }));
      const address = (await second)?.ips?.[0]?.['address'];
      await first;
      const valid = [{ containerID: kept.container, ifname: 'eth0' }];
      const config = { 'cni.dev/valid-attachments': valid };
      assert.equal(await run(base, { command: 'GC', config }), undefined);
      const { body } = await running.get('/contiv/v1/ipam/allocations');
      assert.ok(!JSON.stringify(body).includes(String(address).replace('/32', '')));
      assert.match(JSON.stringify(body), /kept/);
      const none = { 'cni.dev/valid-attachments': null };
      assert.equal(await run(base, { command: 'GC', config: none }), undefined);
      const { body: left } = await running.get('/contiv/v1/ipam/allocations');
      assert.doesNotMatch(JSON.stringify(left), /kept/);
    });

    it('runs the IPAM plugin of the configuration before and after the agent', async () => {
      const log = join(folder, 'ipam.log');
      writeFileSync(log, '');
      const result = JSON.stringify({ cniVersion: '1.0.0', ips: [{ address: '10.1.1.77/24' }] });
      const script = `#!/bin/sh\necho "$CNI_COMMAND $(cat)" >>${log}\n[ "$CNI_COMMAND" = ADD ] && echo '${result}'\nexit 0\n`;
      const plugin = join(folder, 'fake-ipam');
      writeFileSync(plugin, script);
      chmodSync(plugin, 0o755);
      const one = pod('outside');
      const config = { ipam: { type: 'fake-ipam', subnet: 'usePodCidr', note: 1 } };
      await run(base, { command: 'ADD', ...one, config });
      await run(base, { command: 'DEL', ...one, config });
      const lines = readFileSync(log, 'utf8').trim().split('\n');
      assert.deepEqual(
        lines.map((line) => line.slice(0, 3)),
        ['ADD', 'DEL'],
      );
      for (const line of lines)
        assert.deepEqual(JSON.parse(line.slice(4)).ipam, {
          ...config.ipam,
          subnet: '10.1.1.0/24',
          rangeStart: '10.1.1.2',
          rangeEnd: '10.1.1.253',
        });
    });

    it('takes addresses from the reference plugin host-local', {
      skip: withoutCniPlugins(),
    }, async () => {
      const dataDir = join(folder, `host-local-${allocations++}`);
      const one = { ...pod('local'), env: { CNI_PATH: CNI_PLUGINS } };
      // The plugins of Debian do not support 1.1.0.
      const config = {
        cniVersion: '1.0.0',
        ipam: { type: 'host-local', subnet: 'usePodCidr', dataDir },
      };
      const added = await run(base, { command: 'ADD', ...one, config });
      const [{ address } = {}] = added?.ips ?? [];
      assert.match(String(address), /^10\.1\.1\.\d+\/\d+$/, JSON.stringify(added));
      const reserved = () => readdirSync(join(dataDir, 'k8s')).filter((name) => /^\d/.test(name));
      // an agent without external IPAM assigns an address of its own
      assert.equal(reserved().length, 1);
      const check = { ...config, prevResult: added };
      assert.equal(await run(base, { command: 'CHECK', ...one, config: check }), undefined);
      assert.equal(await run(base, { command: 'DEL', ...one, config }), undefined);
      assert.deepEqual(reserved(), []);
    });

    it('releases the address of an IPAM plugin when the agent rejects the request', async () => {
      const log = join(folder, 'refused.log');
      writeFileSync(log, '');
      const plugin = join(folder, 'refused-ipam');
      const result = '{"ips":[{"address":"10.1.1.78/24"}]}';
      writeFileSync(plugin, `#!/bin/sh\necho "$CNI_COMMAND" >>${log}\necho '${result}'\n`);
      chmodSync(plugin, 0o755);
      const config = { ipam: { type: 'refused-ipam' } };
      const one = { ...pod('refused'), args: 'K8S_POD_NAME=NO' };
      const answer = await run(base, { command: 'ADD', ...one, config });
      assert.equal(answer?.code, errorKinds.environment.code);
      assert.equal(readFileSync(log, 'utf8'), 'ADD\nDEL\n');
    });

    it('forwards the error of an IPAM plugin', async () => {
      const plugin = join(folder, 'failing-ipam');
      writeFileSync(
        plugin,
        `#!/bin/sh\necho '{"code":110,"msg":"no more","details":"x"}'\nexit 1\n`,
      );
      chmodSync(plugin, 0o755);
      const one = pod('failing');
      const config = { ipam: { type: 'failing-ipam' } };
      const answer = await run(base, { command: 'ADD', ...one, config });
      assert.deepEqual(answer, {
        cniVersion: '1.1.0',
        code: 110,
        msg: `${plugin}: no more`,
        details: 'x',
      });
      const missing = { ipam: { type: 'absent' } };
      const gone = await run(base, { command: 'ADD', ...one, config: missing });
      assert.equal(gone?.code, errorKinds.config.code);
    });

    it('calls DEL on an IPAM plugin after its ADD failed, and always returns a code', async () => {
      const log = join(folder, 'odd.log');
      const plugin = join(folder, 'odd-ipam');
      const one = pod('odd');
      const config = { ipam: { type: 'odd-ipam' } };
      const says: readonly (readonly [output: string, status: number])[] = [
        ['{"code":110,"msg":"no more"}', 1],
        ['{"msg":"no code"}', 1],
        ['{"code":0,"msg":"none","details":{"a":1}}', 1],
        ['', 0],
        ['null', 0],
        ['{"ips":[]}', 0],
      ];
      for (const [output, status] of says) {
        writeFileSync(
          plugin,
          `#!/bin/sh\necho "$CNI_COMMAND" >>${log}\necho '${output}'\nexit ${status}\n`,
        );
        chmodSync(plugin, 0o755);
        writeFileSync(log, '');
        const answer = await run(base, { command: 'ADD', ...one, config });
        const code = output.includes('110') ? 110 : errorKinds.delegate.code;
        assert.equal(answer?.code, code, JSON.stringify(answer));
        assert.equal(typeof (answer?.details ?? ''), 'string');
        assert.equal(readFileSync(log, 'utf8'), 'ADD\nDEL\n');
      }
    });

    it('deletes with any prevResult', async () => {
      for (const prevResult of [{}, [], '', 7, null, { ip4: { ip: '10.1.1.9/32' } }, { ips: 1 }]) {
        const call = {
          command: 'DEL',
          container: 'id-any',
          ifname: 'eth0',
          config: { prevResult },
        };
        assert.equal(await run(base, call), undefined, JSON.stringify(prevResult));
      }
    });

    it('ignores on CHECK the addresses that other plugins of the chain have added', async () => {
      const one = pod('chained');
      const added = await run(base, { command: 'ADD', ...one });
      const interfaces = [...added!.interfaces!, { name: 'veth7' }, { name: 'eth0' }];
      const others = [1, 2].map((index) => ({ address: '10.9.9.9/32', interface: index }));
      const prevResult = { ...added, interfaces, ips: [...added!.ips!, ...others] };
      assert.equal(
        await run(base, { command: 'CHECK', ...one, config: { prevResult } }),
        undefined,
      );
      await run(base, { command: 'DEL', ...one });
    });

    it('deletes only attachments of its network on GC', async () => {
      const one = pod('of-another');
      await run(base, { command: 'ADD', ...one, config: { name: 'another' } });
      const config = { 'cni.dev/valid-attachments': [] };
      assert.equal(await run(base, { command: 'GC', config }), undefined);
      const left = async () =>
        JSON.stringify((await running.get('/contiv/v1/ipam/allocations')).body);
      assert.match(await left(), /of-another/);
      assert.equal(
        await run(base, { command: 'GC', config: { ...config, name: 'another' } }),
        undefined,
      );
      assert.doesNotMatch(await left(), /of-another/);
    });

    it('rejects a call without the name of the pod', async () => {
      const answer = await run(base, { command: 'ADD', ...pod('nameless'), args: '' });
      assert.equal(answer?.code, errorKinds.environment.code);
      assert.match(answer?.msg ?? '', /K8S_POD_NAME/);
    });
  });
}
