/**
 * The executable contiv-cni on a real VPP: run by cnitool, the client of the specification, before the
 * reference plugins; and in many concurrent calls while the agent is killed.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runsPart } from '#test/support/part-of-cases.ts';
import {
  CNI_PLUGINS,
  withoutCniPlugins,
  withoutCnitool,
  withoutCompiler,
  withoutNodes,
  withoutVhostNet,
} from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { buildContivCni } from '../../../scripts/lib/contiv-cni.ts';
import { bothFamilies } from '../support/networks.ts';
import { RealNode } from '../support/node.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { type NetworkNamespace, ping } from '../support/traffic.ts';

const lacksAdd = withoutNodes() || withoutCniPlugins() || withoutCompiler();
const lacksCnitool = lacksAdd || withoutCnitool();

/** Pods at once: enough that each kill of the agent interrupts some. */
const PODS = runsPart ? 40 : 100;

let folder: string;
let executable: string;

before(async () => {
  if (lacksAdd) return;
  folder = mkdtempSync(join(tmpdir(), 'cni-'));
  executable = join(folder, 'bin/contiv-cni');
  buildContivCni(executable);
  for (const plugin of ['portmap', 'bandwidth'])
    symlinkSync(join(CNI_PLUGINS, plugin), join(folder, 'bin', plugin));
});
after(() => {
  if (folder) rmSync(folder, { recursive: true });
});

const run = promisify(execFile);

interface Ended {
  readonly status: number;
  readonly output: string;
}

/** Runs a command in the namespace of a node. */
async function inNode(
  node: RealNode,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
): Promise<Ended> {
  const [program = '', ...args] = [...node.netns.enter, ...command];
  const running = run(program, args, { env: { ...process.env, ...env } });
  // The process may exit before it has read its input.
  running.child.stdin!.on('error', () => undefined).end(input);
  return running.then(
    ({ stdout }) => ({ status: 0, output: stdout }),
    (error) => ({ status: error.code, output: `${error.stdout}${error.stderr}` }),
  );
}

/**
 * New links get no IPv6 link-local address and so send no solicitations. VPP since v25.06 stalls
 * forever when 16 packet sockets have unread data (docs/networking.md), which the solicitations of a
 * hundred new pods alone can cause.
 */
async function silence(place: NetworkNamespace): Promise<void> {
  await place.run('sysctl', '-qw', 'net.ipv6.conf.default.addr_gen_mode=1');
}

function args(sandbox: Sandbox): string {
  return sandbox.request().extra_arguments;
}

describe('contiv-cni under cnitool', { skip: lacksCnitool, timeout: 120_000 }, () => {
  it('adds, checks and deletes a pod, with portmap and bandwidth behind it', async () => {
    // bandwidth refuses an interface that is not of a VETH pair
    await using node = await RealNode.create({ links: 'VETH' });
    await node.agent.start();
    const config = join(folder, 'net.d');
    mkdirSync(config);
    const ours = {
      type: 'contiv-cni',
      grpcServer: node.agent.cniSocket,
      logFile: join(folder, 'cni.log'),
    };
    const networks = {
      chain: [
        ours,
        { type: 'portmap', capabilities: { portMappings: true }, snat: true },
        { type: 'bandwidth', capabilities: { bandwidth: true } },
      ],
      // The reference plugins of Debian do not support 1.1.0.
      alone: [ours],
    };
    for (const [name, plugins] of Object.entries(networks)) {
      const cniVersion = name === 'chain' ? '1.0.0' : '1.1.0';
      const file = join(config, `${name}.conflist`);
      writeFileSync(file, JSON.stringify({ cniVersion, name, plugins }));
    }
    const web = await node.sandbox('web');
    const tool = (command: string, network: keyof typeof networks = 'chain', sandbox = web) =>
      inNode(node, ['cnitool', command, network, sandbox.path], {
        CNI_PATH: join(folder, 'bin'),
        NETCONFPATH: config,
        CNI_ARGS: args(sandbox),
        CAP_ARGS: JSON.stringify({
          portMappings: [{ hostPort: 8080, containerPort: 80, protocol: 'tcp' }],
          bandwidth: { ingressRate: 80_000_000, ingressBurst: 800_000 },
        }),
      });
    assert.deepEqual(await tool('status', 'alone'), { status: 0, output: '' });
    const added = await tool('add');
    assert.equal(added.status, 0, added.output);
    const result = JSON.parse(added.output);
    assert.equal(result.cniVersion, '1.0.0');
    assert.equal(result.interfaces.at(-1).sandbox, web.path);
    const address = result.ips[0].address.split('/')[0];
    const db = await node.sandbox('db');
    await node.attach(db);
    await ping(db, address);

    const rules = await inNode(node, ['iptables', '-t', 'nat', '-S'], {});
    assert.match(rules.output, new RegExp(`--dport 8080 .*--to-destination ${address}:80`));
    const onNode = result.interfaces.find(({ sandbox }: { sandbox?: string }) => !sandbox);
    const shaped = await inNode(node, ['tc', 'qdisc', 'show', 'dev', onNode.name], {});
    assert.match(shaped.output, /qdisc tbf .* rate 80Mbit/);

    // CHECK of contiv-cni alone: portmap of Debian reports IPv6 rules that it never creates as missing.
    const single = await node.sandbox('single');
    assert.equal((await tool('add', 'alone', single)).status, 0);
    assert.deepEqual(await tool('check', 'alone', single), { status: 0, output: '' });
    assert.deepEqual(await tool('del', 'alone', single), { status: 0, output: '' });

    assert.deepEqual(await tool('del'), { status: 0, output: '' });
    const cleaned = await inNode(node, ['iptables', '-t', 'nat', '-S'], {});
    assert.doesNotMatch(cleaned.output, /8080/);
    assert.deepEqual(await tool('del'), { status: 0, output: '' });
    const { body: before } = await node.agent.get('/contiv/v1/ipam/allocations');
    assert.match(JSON.stringify(before), new RegExp(db.address));
    // cnitool sends no list and means that no attachment is valid. The list is required by the
    // specification: otherwise a runtime that omits it would lose all pods.
    const listless = await tool('gc', 'alone');
    assert.match(listless.output, /GC requires cni\.dev\/valid-attachments/);
    const gc = { ...ours, cniVersion: '1.1.0', name: 'alone', 'cni.dev/valid-attachments': [] };
    const collected = await inNode(node, [executable], { CNI_COMMAND: 'GC' }, JSON.stringify(gc));
    assert.deepEqual(collected, { status: 0, output: '' });
    const { body: after } = await node.agent.get('/contiv/v1/ipam/allocations');
    assert.doesNotMatch(JSON.stringify(after), new RegExp(db.address));
    await node.agent.end('SIGTERM');
    const status = await tool('status', 'alone');
    assert.notEqual(status.status, 0);
    assert.match(status.output, /is unreachable/);
  });
});

/** Changes past the agent to an attached pod, and the text of CHECK about each. */
const damages: readonly {
  readonly title: string;
  readonly names: RegExp;
  make(pod: Sandbox, node: RealNode): Promise<unknown>;
}[] = [
  {
    title: 'its addresses are flushed',
    names: /address\/static\/\S+ is missing/,
    make: (pod) => pod.run('ip', 'addr', 'flush', 'dev', 'eth0'),
  },
  {
    title: 'its link is down',
    // the kernel removes addresses of IPv6 then
    names: /interface\/\S+ is different \(enabled(, ip_addresses)?\)/,
    make: (pod) => pod.run('ip', 'link', 'set', 'eth0', 'down'),
  },
  {
    title: 'its default route is deleted',
    names: /route\/0\.0\.0\.0\/0\S+ is missing/,
    make: (pod) => pod.run('ip', 'route', 'del', 'default'),
  },
  {
    title: 'its link is deleted',
    names: /interface\/\S+ is missing/,
    make: (pod) => pod.run('ip', 'link', 'del', 'eth0'),
  },
  {
    title: 'its interface of VPP is down',
    names: /config\/vpp\/v2\/interfaces\/\S+ is different \(enabled\)/,
    make: async (pod, node) => {
      const fib = await node.vpp.cli(`show ip fib table 1 ${pod.addressOf(4)}/32`);
      const [, device] = /(tap\d+|host-\S+?):?\s/.exec(fib) ?? [];
      assert.equal(await node.vpp.cli(`set interface state ${device} down`), '');
    },
  },
  {
    title: 'its route in VPP is deleted',
    names: /config\/vpp\/v2\/route\/\S+ is missing/,
    make: (pod, node) => deleteRoute(node, `${pod.addressOf(4)}/32`),
  },
];

/** To a pod with addresses of both families. */
const damagesOfIpv6: typeof damages = [
  {
    title: 'its address of IPv6 is removed',
    names: /address\/static\/fd01\S+ is missing/,
    make: (pod) => pod.run('ip', 'addr', 'del', `${pod.addressOf(6)}/128`, 'dev', 'eth0'),
  },
  {
    title: 'its default route of IPv6 is deleted',
    names: /route\/::\/0\S+ is missing/,
    make: (pod) => pod.run('ip', '-6', 'route', 'del', 'default'),
  },
  {
    title: 'its neighbor of IPv6 is deleted',
    names: /arp\/\S+\/fd01\S+ is missing/,
    make: async (pod) => {
      const neighbors = await pod.run(
        'ip',
        '-6',
        'neigh',
        'show',
        'dev',
        'eth0',
        'nud',
        'permanent',
      );
      const [gateway = ''] = neighbors.split(' ');
      await pod.run('ip', '-6', 'neigh', 'del', gateway, 'dev', 'eth0');
    },
  },
  {
    title: 'its route of IPv6 in VPP is deleted',
    names: /config\/vpp\/v2\/route\/\S+fd01\S+ is missing/,
    make: (pod, node) => deleteRoute(node, `${pod.addressOf(6)}/128`),
  },
];

/** Deletes a route in the table of the pods. */
function deleteRoute(node: RealNode, destination: string): Promise<void> {
  return node.vpp.withClient(async (client) => {
    const prefix = toPrefix(destination);
    const { route } = await client.request('ip_route_lookup_v2', {
      table_id: 1,
      exact: 1,
      prefix,
    });
    const deleted = { table_id: 1, stats_index: 0, prefix, paths: route.paths };
    await client.request('ip_route_add_del', { is_add: false, is_multipath: true, route: deleted });
  });
}

/** The families of the pod, the primary one first. */
const changedPods = [
  { links: 'TAP', families: [4] },
  { links: 'VETH', families: [4] },
  { links: 'TAP', families: [4, 6] },
  { links: 'VETH', families: [6, 4] },
] as const;

for (const { links, families } of changedPods) {
  const skip = lacksCnitool || (links === 'TAP' && withoutVhostNet());
  const [first] = families;
  const isDual = families.length === 2;
  const title = `a pod changed past the agent, with ${links}, IPv${families.join(' and IPv')}`;
  describe(title, { skip, timeout: 240_000 }, () => {
    let node: RealNode;
    let pod: Sandbox;
    let config: string;

    const tool = (command: string) =>
      inNode(node, ['cnitool', command, 'k8s', pod.path], {
        CNI_PATH: join(folder, 'bin'),
        NETCONFPATH: config,
        CNI_ARGS: args(pod),
      });

    before(async () => {
      const ipamConfig = isDual ? { ipamConfig: bothFamilies(first).ipamConfig } : {};
      node = await RealNode.create({ links, contiv: ipamConfig });
      await node.agent.start();
      config = mkdtempSync(join(folder, 'net.d-'));
      const plugins = [
        { type: 'contiv-cni', grpcServer: node.agent.cniSocket, logFile: join(folder, 'cni.log') },
      ];
      const list = { cniVersion: '1.1.0', name: 'k8s', plugins };
      writeFileSync(join(config, 'k8s.conflist'), JSON.stringify(list));
      pod = await node.sandbox('web');
      const added = await tool('add');
      assert.equal(added.status, 0, added.output);
      pod.addresses = addressesIn(added.output);
      pod.address = pod.addresses[0]!;
    });
    after(() => node?.[Symbol.asyncDispose]());

    it('has an address of each family, the primary one first', () =>
      assert.deepEqual(
        pod.addresses.map((address) => (address.includes(':') ? 6 : 4)),
        families,
      ));

    for (const { title, names, make } of [...damages, ...(isDual ? damagesOfIpv6 : [])])
      it(`CHECK says that ${title}, and ADD wires it again`, async (t) => {
        assert.deepEqual(await tool('check'), { status: 0, output: '' });
        await make(pod, node);
        const checked = await tool('check');
        assert.notEqual(checked.status, 0);
        assert.match(checked.output, names);
        const start = performance.now();
        const added = await tool('add');
        t.diagnostic(`ADD with its process: ${Math.round(performance.now() - start)} ms`);
        assert.equal(added.status, 0, added.output);
        assert.deepEqual(addressesIn(added.output), pod.addresses);
        assert.deepEqual(await tool('check'), { status: 0, output: '' });
        const other = await node.sandbox('other');
        await node.attach(other);
        for (const address of pod.addresses) await ping(other, address);
      });
  });
}

function addressesIn(result: string): string[] {
  const { ips } = JSON.parse(result) as { ips: readonly { readonly address: string }[] };
  return ips.map(({ address }) => address.split('/')[0]!);
}

describe('contiv-cni in concurrent calls', { skip: lacksAdd, timeout: 300_000 }, () => {
  it(`attaches and detaches ${PODS} pods at once while the agent is killed`, async (t) => {
    await using node = await RealNode.create();
    await silence(node.netns);
    await node.agent.start();
    const empty = await node.configuration();
    const config = JSON.stringify({
      cniVersion: '1.1.0',
      name: 'k8s',
      grpcServer: node.agent.cniSocket,
      logFile: join(folder, 'hurry.log'),
    });
    const sandboxes = await Promise.all(
      Array.from({ length: PODS }, (_, index) => node.sandbox(`pod-${index}`)),
    );
    await Promise.all(sandboxes.map(silence));
    let repeated = 0;
    const call = async (command: string, sandbox: Sandbox): Promise<string> => {
      for (let attempt = 1; ; attempt++) {
        const { status, output } = await inNode(
          node,
          [executable],
          {
            CNI_COMMAND: command,
            CNI_CONTAINERID: sandbox.containerId,
            CNI_IFNAME: 'eth0',
            CNI_NETNS: sandbox.path,
            CNI_ARGS: args(sandbox),
          },
          config,
        );
        if (status === 0) return output;
        // Every failure has an error of the specification.
        assert.equal(typeof JSON.parse(output).code, 'number', output);
        // An agent that was killed needs seconds to start on a loaded machine.
        assert.ok(attempt < 300, output);
        repeated++;
        await sleep(200);
      }
    };
    const all = (command: string) => inTurns(sandboxes, 10, (one) => call(command, one));
    const kill = async (times: number) => {
      for (let time = 0; time < times; time++) {
        await sleep(1500);
        await node.agent.end('SIGKILL');
        await node.agent.start();
      }
    };
    const [results] = await Promise.all([all('ADD'), kill(2)]);
    const addresses = results.map((text) => JSON.parse(text).ips[0].address);
    assert.equal(new Set(addresses).size, PODS);
    await Promise.all([
      ping(sandboxes.at(0)!, addresses.at(-1).split('/')[0]),
      ping(sandboxes.at(-1)!, addresses.at(PODS / 2).split('/')[0]),
    ]);
    await Promise.all([all('DEL'), kill(2)]);
    t.diagnostic(`${repeated} calls were repeated`);
    await until(
      'the agent is ready',
      async () => (await node.agent.get('/readiness')).status === 200,
    );
    assert.deepEqual(await node.configuration(), empty);
    const { body } = await node.agent.get('/contiv/v1/ipam/allocations');
    assert.doesNotMatch(JSON.stringify(body), /pod-/);
  });
});

/** @returns the results in the order of the items. @param limit of concurrent calls */
async function inTurns<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...items.entries()];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}
