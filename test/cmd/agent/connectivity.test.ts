import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { connectivity } from '#cmd/agent/connectivity.ts';
import type { ConnectivityRequest } from '#cmd/agent/connectivity-request.ts';
import { parseFlags } from '#cmd/agent/flags.ts';
import { systemClock } from '#infra/clock/system.ts';
import { programFile } from '#test/support/program-command.ts';
import { withoutShared } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

interface Result {
  readonly isPermitted: boolean;
  readonly text: string;
  readonly warnings: readonly string[];
}

async function run(manifests: string, more: Partial<ConnectivityRequest> = {}): Promise<Result> {
  const printed: string[] = [];
  const warnings: string[] = [];
  const request = {
    manifests,
    compare: undefined,
    output: 'text',
    pair: undefined,
    ...more,
  } as const;
  const isPermitted = await connectivity(request, systemClock, {
    print: (text) => void printed.push(text),
    warn: (text) => void warnings.push(text.trimEnd()),
  });
  return { isPermitted, text: printed.join(''), warnings };
}

function folder(files: Readonly<Record<string, string>>): string {
  const path = temporaryFolder('cv-connectivity');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

const SLOW_READER_MS = 5_000;

const pod = (name: string, labels = `{app: ${name}}`, more = ''): string =>
  `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, labels: ${labels}}, spec: {containers: [{name: c, ports: [{name: http, containerPort: 8080}]}]}${more}}\n---\n`;

const policy = (name: string, spec: string): string =>
  `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: ${name}}, spec: ${spec}}\n---\n`;

const pods = pod('web') + pod('db') + pod('other');

const dbFromWeb = policy(
  'db-from-web',
  '{podSelector: {matchLabels: {app: db}}, ingress: [{from: [{ipBlock: {cidr: 192.0.2.0/24}}], ports: [{port: 22}]}, {from: [{podSelector: {matchLabels: {app: web}}}], ports: [{port: http}, {port: 53, protocol: UDP}]}]}',
);

const ALL = '0.0.0.0-255.255.255.255[External]';

describe('contiv-agent connectivity', () => {
  describe('of real manifests', () => {
    const path = resolve(import.meta.dirname, '../../../../shared/vectors/netpol');
    const names = existsSync(path) ? readdirSync(path).sort() : [];
    it('has twenty cases', { skip: withoutShared('vectors/netpol') }, () => {
      assert.equal(names.length, 20);
    });
    for (const name of names)
      it(name, async () => {
        const expected = readFileSync(join(path, name, 'expected.txt'), 'utf8').trimEnd();
        const { text, isPermitted } = await run(join(path, name, 'manifests'));
        assert.equal(text.trimEnd(), expected.split('\n').sort().join('\n'));
        assert.equal(isPermitted, true);
      });
  });

  it('resolves named ports, cuts addresses outside at ipBlocks, and lists nothing that is denied', async () => {
    const { text, warnings } = await run(folder({ 'all.yaml': pods + dbFromWeb }));
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      text.split('\n').filter((line) => line.includes('=> default/db')),
      [
        '192.0.2.0-192.0.2.255[External] => default/db[Pod] : TCP 22',
        'default/web[Pod] => default/db[Pod] : TCP 8080,UDP 53',
      ],
    );
    assert.match(text, /^0\.0\.0\.0-192\.0\.1\.255\[External\] => default\/other\[Pod\] : All/m);
    assert.match(text, /^default\/db\[Pod\] => 0\.0\.0\.0-255\.255\.255\.255\[External\] : All/m);
  });

  it('takes the pod subnet for pods without address, which ipBlocks permit as well', async () => {
    const to = (cidr: string): string =>
      policy(
        'out',
        `{podSelector: {}, policyTypes: [Egress], egress: [{to: [{ipBlock: {cidr: ${cidr}}}]}]}`,
      );
    const lines = async (cidr: string): Promise<string> =>
      (await run(folder({ 'all.yaml': pods + to(cidr) }))).text;
    assert.match(await lines('10.0.0.0/8'), /default\/web\[Pod\] => default\/db\[Pod\] : All/);
    assert.doesNotMatch(await lines('10.2.0.0/16'), /default\S+ => default/);
  });

  it('lists a pod whose status contains no valid address', async () => {
    const path = folder({
      'a.yaml': pod('web') + pod('db', '{app: db}', ', status: {podIP: none}'),
    });
    const { text } = await run(path);
    assert.ok(text.includes('default/web[Pod] => default/db[Pod] : All Connections'), text);
  });

  it('uses the addresses of running pods of both families', async () => {
    const dual = pod('dual', '{}', ', status: {podIPs: [{ip: 10.9.0.1}, {ip: "fd00::1"}]}');
    const six = pod('six', '{}', ', status: {podIP: "fd00::2"}');
    const { text } = await run(folder({ 'all.yaml': dual + six + pod('four', '{}') }));
    assert.match(text, /^default\/dual\[Pod\] => default\/six\[Pod\] : All/m);
    assert.doesNotMatch(text, /six\[Pod\] => default\/four|four\[Pod\] => default\/six/);
    assert.match(text, /^::-ffff:ffff:\S+\[External\] => default\/six\[Pod\] : All/m);
    assert.doesNotMatch(text, /^0\.0\.0\.0\S+ => default\/six/m);
  });

  it('lists the pods of a workload one by one if policies distinguish them', async () => {
    const set =
      '{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, template: {metadata: {labels: {app: db}}, spec: {}}}}\n---\n';
    const one = policy(
      'first',
      '{podSelector: {matchLabels: {statefulset.kubernetes.io/pod-name: db-0}}}',
    );
    assert.equal(
      (await run(folder({ 'all.yaml': set }))).text,
      `${ALL} => default/db[StatefulSet] : All Connections\ndefault/db[StatefulSet] => ${ALL} : All Connections\n`,
    );
    const { text } = await run(folder({ 'all.yaml': set + one }));
    assert.match(text, /^default\/db-0\[Pod\] => default\/db-1\[Pod\] : All Connections$/m);
    assert.doesNotMatch(text, /=> default\/db-0/);
  });

  it('lists the mirror pods of a node by their own names', async () => {
    const mirror = (name: string): string =>
      `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, ownerReferences: [{apiVersion: v1, kind: Node, name: node1, controller: true}]}, spec: {}}\n---\n`;
    const path = folder({ 'all.yaml': mirror('dns-node1') + mirror('proxy-node1') });
    const { text } = await run(path);
    assert.match(text, /^default\/dns-node1\[Pod\] => default\/proxy-node1\[Pod\] : All/m);
    assert.doesNotMatch(text, /Node/);
  });

  it('prints JSON with the pods of each workload', async () => {
    const path = folder({ 'all.yaml': pod('web') + pod('db') + dbFromWeb });
    const document = JSON.parse((await run(path, { output: 'json' })).text) as {
      endpoints: { name: string; pods?: string[] }[];
      connections: object[];
    };
    assert.deepEqual(Object.keys(document), ['endpoints', 'connections']);
    assert.deepEqual(
      document.endpoints.find(({ name }) => name === 'default/db[Pod]'),
      { name: 'default/db[Pod]', pods: ['default/db'] },
    );
    assert.deepEqual(
      document.connections.filter((one) => 'to' in one && one.to === 'default/db[Pod]'),
      [
        { from: '192.0.2.0-192.0.2.255[External]', to: 'default/db[Pod]', ports: 'TCP 22' },
        { from: 'default/web[Pod]', to: 'default/db[Pod]', ports: 'TCP 8080,UDP 53' },
      ],
    );
  });

  it('prints a graph for Graphviz', async () => {
    const path = folder({ 'all.yaml': pod('web') + pod('db') + dbFromWeb });
    const { text } = await run(path, { output: 'dot' });
    assert.match(text, /^digraph connectivity \{\n/);
    assert.match(
      text,
      /^ {2}"default\/web\[Pod\]" -> "default\/db\[Pod\]" \[label="TCP 8080,UDP 53"\];$/m,
    );
    assert.match(text, /^ {2}"192\.0\.2\.0-192\.0\.2\.255\[External\]" \[shape=ellipse\];$/m);
    assert.match(text, /\n\}\n$/);
  });

  describe('for one pair', () => {
    const denyEgress = policy(
      'web-out',
      '{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [{ports: [{port: 8080}]}]}',
    );
    const path = folder({ 'all.yaml': pods + dbFromWeb + denyEgress });
    const pair = (from: string, to: string, port?: number, protocol: 'TCP' | 'UDP' = 'TCP') => ({
      pair: { from, to, port: port === undefined ? undefined : { protocol, port } },
    });

    it('names the policy and the rule of each direction', async () => {
      const { text, isPermitted } = await run(path, pair('default/web', 'default/db', 8080));
      assert.equal(isPermitted, true);
      assert.equal(
        text,
        [
          'default/web => default/db, TCP 8080: permitted',
          'egress of default/web: decided by default/web-out',
          '  accepted by default/web-out, spec.egress[0]: TCP 8080',
          'ingress of default/db: decided by default/db-from-web',
          '  accepted by default/db-from-web, spec.ingress[1]: TCP 8080',
          '',
        ].join('\n'),
      );
    });

    it('says which direction denies a connection', async () => {
      const { text, isPermitted } = await run(path, pair('default/web', 'default/db', 53, 'UDP'));
      assert.equal(isPermitted, false);
      assert.match(text, /^default\/web => default\/db, UDP 53: denied\n/);
      assert.match(text, /^ {2}denied by default\/web-out, whose rules do not permit it: UDP 53$/m);
      assert.match(text, /spec\.ingress\[1\]: UDP 53$/m);
      assert.match(
        (await run(path, pair('default/db', 'default/other'))).text,
        /^default\/db => default\/other: permitted: All Connections\negress of default\/db: permitted, no policy/,
      );
    });

    it('accepts addresses and names of workloads', async () => {
      const outside = await run(path, pair('192.0.2.7', 'default/db'));
      assert.match(outside.text, /^192\.0\.2\.7 => default\/db: permitted: TCP 22\ningress of/);
      assert.equal((await run(path, pair('192.0.3.7', 'default/db'))).isPermitted, false);
      const deployment =
        '{apiVersion: apps/v1, kind: Deployment, metadata: {name: shop}, spec: {template: {spec: {}}}}';
      const { text } = await run(
        folder({ 'a.yaml': deployment }),
        pair('default/shop', '192.0.2.1'),
      );
      assert.match(text, /^default\/shop-\S+-0 => 192\.0\.2\.1: permitted/);
    });

    it('names the address families of ends that have none in common', async () => {
      const { text, isPermitted } = await run(path, pair('2001:db8::1', 'default/other'));
      assert.equal(isPermitted, false);
      assert.match(
        text,
        /^2001:db8::1 => default\/other: denied\nNo address family in common: 2001:db8::1 has IPv6, default\/other has IPv4\.\n/,
      );
    });

    it('permits a pod to reach itself', async () => {
      const { text, isPermitted } = await run(path, pair('default/db', 'default/db', 1));
      assert.equal(isPermitted, true);
      assert.match(text, /A pod always reaches itself/);
    });

    it('prints JSON', async () => {
      const { text } = await run(path, { ...pair('default/web', 'default/db'), output: 'json' });
      const accepted = { tier: 'NetworkPolicy', action: 'Accept' };
      const denied = { tier: 'NetworkPolicy', action: 'Deny' };
      assert.deepEqual(JSON.parse(text), {
        from: 'default/web',
        to: 'default/db',
        port: null,
        verdict: 'permitted',
        ports: 'TCP 8080',
        otherFamilies: null,
        egress: {
          policies: ['default/web-out'],
          rules: [
            {
              ...accepted,
              policy: 'default/web-out',
              rule: 0,
              text: 'accepted by default/web-out, spec.egress[0]',
              ports: 'TCP 8080',
            },
            {
              ...denied,
              policy: 'default/web-out',
              rule: null,
              text: 'denied by default/web-out, whose rules do not permit it',
              ports: 'All Connections but TCP 8080',
            },
          ],
          undecided: 'No Connections',
        },
        ingress: {
          policies: ['default/db-from-web'],
          rules: [
            {
              ...accepted,
              policy: 'default/db-from-web',
              rule: 1,
              text: 'accepted by default/db-from-web, spec.ingress[1]',
              ports: 'TCP 8080,UDP 53',
            },
            {
              ...denied,
              policy: 'default/db-from-web',
              rule: null,
              text: 'denied by default/db-from-web, whose rules do not permit it',
              ports: 'All Connections but TCP 8080,UDP 53',
            },
          ],
          undecided: 'No Connections',
        },
      });
    });

    it('rejects the name of no pod', async () => {
      await assert.rejects(run(path, pair('default/web', 'default/nothing')), {
        code: 'CV_CONNECTIVITY',
        message: /default\/nothing/,
      });
    });
  });

  describe('with --compare', () => {
    const before = folder({ 'all.yaml': pods + dbFromWeb });

    it('lists each pair that changes, as diff does', async () => {
      const closed = policy('db-from-web', '{podSelector: {matchLabels: {app: db}}}');
      const compare = folder({ 'pods.yaml': pods, 'policies.yaml': closed });
      assert.equal(
        (await run(before, { compare })).text,
        [
          '- 192.0.2.0-192.0.2.255[External] => default/db[Pod] : TCP 22',
          '    denied by default/db-from-web, whose rules do not permit it',
          '- default/web[Pod] => default/db[Pod] : TCP 8080,UDP 53',
          '    denied by default/db-from-web, whose rules do not permit it',
          'node: update config/vpp/acls/v2/acl/contiv-policy-out-default/db',
          'node: update config/vpp/acls/v2/acl/contiv-policy-reflection-default/db',
          '',
        ].join('\n'),
      );
      const { text } = await run(compare, { compare: before, output: 'json' });
      const { changes, operations } = JSON.parse(text) as {
        changes: object[];
        operations: { node: string; operation: string; before: object; after: object }[];
      };
      assert.equal(operations.length, 2);
      for (const { node, operation, before: old, after } of operations) {
        assert.deepEqual([node, operation], ['node', 'update']);
        assert.notDeepEqual(old, after);
      }
      assert.deepEqual(changes.at(-1), {
        from: 'default/web[Pod]',
        to: 'default/db[Pod]',
        before: 'No Connections',
        after: 'TCP 8080,UDP 53',
        reasons: [
          'accepted by default/db-from-web, spec.ingress[1]',
          'before: denied by default/db-from-web, whose rules do not permit it',
        ],
      });
    });

    it('lists the connections of pods that only one of the states has', async () => {
      const compare = folder({ 'all.yaml': pods + dbFromWeb + pod('new', '{app: web}') });
      const { text } = await run(before, { compare });
      assert.match(text, /^\+ default\/new\[Pod\] => default\/db\[Pod\] : TCP 8080,UDP 53$/m);
      assert.equal(
        text.split('\n').every((line) => /^$|^node: |^ {4}|\/new\[/.test(line)),
        true,
      );
    });

    it('lists the operations on ACLs of the nodes that the change concerns', async () => {
      const on = (name: string, node: string): string =>
        `{apiVersion: v1, kind: Pod, metadata: {name: ${name}, labels: {app: ${name}}}, spec: {nodeName: ${node}}}\n---\n`;
      const spread = on('web', 'node-a') + on('db', 'node-b');
      const { text } = await run(folder({ 'a.yaml': spread }), {
        compare: folder({ 'a.yaml': spread + dbFromWeb }),
      });
      const operations = text.split('\n').filter((line) => line.includes('config/vpp'));
      assert.ok(operations.length > 0);
      for (const line of operations) assert.match(line, /^node-b: create .*-default\/db$/);
    });

    it('prints nothing if nothing changes', async () => {
      assert.equal((await run(before, { compare: before })).text, '');
    });
  });

  it('reports problems with file and line, and uses the rest', async () => {
    const path = folder({
      'sub/bad.yaml': `${pod('web')}\nkind: NetworkPolicy\nmetadata: {name: x}\n`,
      'policy.yaml': `\n\n${policy('named', '{podSelector: {}, ingress: [{ports: [{port: metrics}]}]}')}`,
    });
    const { text, warnings } = await run(path);
    assert.match(text, /default\/web\[Pod\] => 0\.0\.0\.0/);
    assert.match(
      warnings.join('\n'),
      /^sub\/bad\.yaml:\d+ \(document 2\): .*apiVersion is missing/m,
    );
    assert.match(
      warnings.join('\n'),
      /^policy\.yaml:3 \(document 1\): NetworkPolicy default\/named: .*"metrics"/m,
    );
  });

  it('says that a pod in the network of its host is listed as another', async () => {
    const host =
      '{apiVersion: v1, kind: Pod, metadata: {name: agent}, spec: {hostNetwork: true}, status: {podIP: 192.0.2.1, hostIP: 192.0.2.1}}';
    const { text, warnings } = await run(folder({ 'a.yaml': host }));
    assert.match(text, /default\/agent\[Pod\]/);
    assert.match(warnings.join(), /default\/agent: .* no policy applies/);
  });

  it('leaves out pods that have ended', async () => {
    const ended = pod('job', '{}', ', status: {phase: Succeeded, podIP: 10.9.0.1}');
    const { text } = await run(
      folder({ 'a.yaml': ended + pod('web', '{}', ', status: {podIP: 10.9.0.1}') }),
    );
    assert.doesNotMatch(text, /job/);
    assert.match(text, /default\/web\[Pod\]/);
  });

  it('writes the whole list to a reader that is slow', async () => {
    const many = Array.from({ length: 50 }, (_, n) => pod(`pod-${n}`)).join('');
    const path = folder({ 'all.yaml': many });
    const main = programFile('agent');
    const child = spawn(process.execPath, [main, 'connectivity', '--manifests', path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    // without a listener, Node.js discards what is not read when the child exits
    child.stdout.on('readable', () => undefined);
    // longer than the list takes: the pipe is full then
    await Promise.race([exited, systemClock.sleep(SLOW_READER_MS)]);
    const read = await readText(child.stdout);
    assert.deepEqual(await exited, [0, null]);
    assert.equal(read, (await run(path)).text);
  });

  it('ends without an error if its reader ends', async () => {
    const many = Array.from({ length: 50 }, (_, n) => pod(`pod-${n}`)).join('');
    const main = programFile('agent');
    const argv = [main, 'connectivity', '--manifests', folder({ 'all.yaml': many })];
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [errors] = await Promise.all([readText(child.stderr), once(child, 'exit')]);
    assert.equal(errors, '');
  });

  it('fails if the list cannot be written', async () => {
    const main = programFile('agent');
    const argv = [main, 'connectivity', '--manifests', folder({ 'all.yaml': pod('web') })];
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, argv, { stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    const [errors, [code]] = await Promise.all([readText(child.stderr!), once(child, 'exit')]);
    assert.match(errors, /ENOSPC[\s\S]*CV_STANDARD_OUTPUT/);
    assert.equal(code, 1);
  });

  it('rejects a folder that cannot be read', async () => {
    await assert.rejects(run('/nowhere'), { code: 'CV_MANIFESTS_UNREADABLE' });
  });
});

describe('the flags of connectivity', () => {
  const parsed = (...argv: string[]) => parseFlags(['connectivity', ...argv], {}).connectivity;

  it('are read', () => {
    assert.deepEqual(parsed('--manifests', 'a'), {
      manifests: 'a',
      compare: undefined,
      output: 'text',
      pair: undefined,
    });
    const pair = ['--manifests', 'a', '--from', 'x/a', '--to', 'x/b'];
    const portOf = (...more: string[]) => parsed(...pair, ...more)?.pair?.port;
    assert.equal(portOf(), undefined);
    assert.deepEqual(portOf('--port', '80'), { protocol: 'TCP', port: 80 });
    assert.deepEqual(portOf('--port', 'sctp/80'), { protocol: 'SCTP', port: 80 });
    assert.deepEqual(portOf('--port', '53', '--protocol', 'udp'), { protocol: 'UDP', port: 53 });
    assert.equal(parseFlags([], {}).connectivity, undefined);
  });

  it('are rejected where they have no meaning', (t) => {
    t.mock.method(process.stderr, 'write', () => true);
    for (const argv of [
      [],
      ['--manifests', 'a', '--from', 'x/a'],
      ['--manifests', 'a', '--port', '80'],
      ['--manifests', 'a', '--output', 'xml'],
      ['--manifests', 'a', '--compare', 'b', '--output', 'dot'],
      ['--manifests', 'a', '--compare', 'b', '--from', 'x/a', '--to', 'x/b'],
      ['--manifests', 'a', '--from', 'x/a', '--to', 'x/b', '--port', 'XYZ/80'],
      ['--manifests', 'a', '--from', 'x/a', '--to', 'x/b', '--port', '0'],
      ['--manifests', 'a', '--from', 'x/a', '--to', 'x/b', '--protocol', 'icmp'],
    ])
      assert.throws(() => parsed(...argv), argv.join(' '));
  });
});
