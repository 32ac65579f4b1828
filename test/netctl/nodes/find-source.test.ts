import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { findSource, type SourceOptions } from '#netctl/nodes/find-source.ts';
import { NodeDirectory } from '#netctl/nodes/node-directory.ts';
import { fakeKubernetes, nodeObject } from '../support/kubernetes.ts';

describe('the source of the nodes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'netctl-source-'));
  after(() => rmSync(folder, { recursive: true }));
  const warnings: string[] = [];
  const options = (given: Partial<SourceOptions> = {}): SourceOptions => ({
    servers: [],
    etcdConfig: undefined,
    kubeconfig: undefined,
    env: {},
    home: folder,
    localSocket: join(folder, 'agent.sock'),
    userAgents: async () => [],
    timeoutMs: 1_000,
    warn: (text) => warnings.push(text),
    clock: systemClock,
    signal: new AbortController().signal,
    ...given,
  });

  it('is --server before everything else', async () => {
    const servers = ['10.0.0.1', 'node:1234', '[fd00::1]:99', 'fd00::2', 'unix:/run/a.sock'];
    const env = { KUBECONFIG: '/none' };
    const { nodes } = await findSource(options({ servers, kubeconfig: '/none', env }));
    assert.deepEqual(
      nodes.map(({ host, port, socket }) => socket ?? [host, port]),
      [
        ['10.0.0.1', undefined],
        ['node', 1234],
        ['fd00::1', 99],
        ['fd00::2', undefined],
        '/run/a.sock',
      ],
    );
  });

  it('rejects what is no address', async () => {
    const cases = {
      '': /^--server : is not an address of a server$/,
      'a b': /is not an address of a server$/,
      'node:': /is not an address of a server$/,
      'node:99999': /its port is not a number from 1 to 65535$/,
      'node:0': /^--server node:0: its port is not a number from 1/,
      '[fd00::1]:00': /its port is not a number from 1/,
      'http://node': /^--server http:\/\/node: is a URL: leave out http:\/\/$/,
      'HTTPS://node:9999/': /is a URL: leave out HTTPS:\/\/, and add --https$/,
    };
    for (const [server, message] of Object.entries(cases))
      await assert.rejects(findSource(options({ servers: ['ok', server] })), {
        code: 'CV_NETCTL_SERVER',
        message,
      });
  });

  it('is not an empty flag', async () => {
    const found = findSource(options({ etcdConfig: '', kubeconfig: '' }));
    await assert.rejects(
      found,
      /not known: unix socket .*: no agent of yours runs on this machine$/,
    );
  });

  it('of an address is the address itself, unless --server is wrong', async () => {
    const nodesOf = (servers: string[]) => {
      const given = { servers, ...(servers.length === 0 && { kubeconfig: '/none' }) };
      return new NodeDirectory(
        () => findSource(options(given)),
        undefined,
        async () => undefined,
      ).nodes(['10.0.0.1']);
    };
    assert.deepEqual(
      (await nodesOf([])).map(({ host }) => host),
      ['10.0.0.1'],
    );
    await assert.rejects(nodesOf(['http://10.0.0.1']), { code: 'CV_NETCTL_SERVER' });
  });

  it('has nodes by name, address and, where it knows that, address of VPP', async () => {
    const nodes = [
      { name: 'a', id: 1, host: '10.0.0.1', vppAddress: '192.168.16.1' },
      // Its host has the address that the VPP of the other one has.
      { name: 'b', id: 2, host: '192.168.16.1', vppAddress: '192.168.16.2' },
    ];
    const none = async () => undefined;
    const source = { name: 'test', nodes, pods: none, close: none };
    const directory = new NodeDirectory(async () => source, undefined, none);
    const named = async (selector: string) => (await directory.nodes([selector]))[0]?.name;
    assert.equal(await named('a'), 'a');
    assert.equal(await named('10.0.0.1'), 'a');
    assert.equal(await named('192.168.16.2'), 'b');
    assert.equal(await named('192.168.16.1'), 'b');
  });

  it('is the API server of a kubeconfig', async () => {
    await using kubernetes = await fakeKubernetes({
      '/api/v1/nodes': [nodeObject('b', '10.0.0.2'), nodeObject('a', '10.0.0.1')],
    });
    const env = { KUBECONFIG: `/none:${kubernetes.kubeconfig}` };
    const directory = new NodeDirectory(
      () => findSource(options({ env })),
      undefined,
      async () => undefined,
    );
    const nodes = await directory.nodes();
    assert.deepEqual(
      nodes.map(({ name, host }) => [name, host]),
      [
        ['a', '10.0.0.1'],
        ['b', '10.0.0.2'],
      ],
    );
    assert.equal((await directory.nodes(['10.0.0.2']))[0]?.name, 'b');
    await assert.rejects(directory.nodes(['c']), /c: no node has this name; known: a, b/);
  });

  it('says what was tried when none answers', async () => {
    const env = { ETCD_ENDPOINTS: '127.0.0.1:1', KUBECONFIG: '/none' };
    await assert.rejects(
      findSource(options({ env })),
      /etcd \(ETCD_ENDPOINTS\): .*; Kubernetes API server \(KUBECONFIG\): .*; unix socket .*: no agent of yours runs/,
    );
  });

  it('are the agents of this user, unless KUBECONFIG names a cluster', async () => {
    const userAgents = async () => [{ node: 'vpp1', socket: '/run/own.sock' }];
    const { nodes } = await findSource(options({ userAgents }));
    assert.deepEqual(
      nodes.map(({ name, socket }) => [name, socket]),
      [['vpp1', '/run/own.sock']],
    );
    await using kubernetes = await fakeKubernetes({
      '/api/v1/nodes': [nodeObject('a', '10.0.0.1')],
    });
    const env = { KUBECONFIG: kubernetes.kubeconfig };
    const cluster = await findSource(options({ userAgents, env }));
    assert.equal(cluster.nodes[0]?.name, 'a');
  });

  it('is the agent of this machine, with a warning, when the others fail', async () => {
    const localSocket = join(folder, 'own.sock');
    writeFileSync(localSocket, '');
    const env = { KUBECONFIG: '/none' };
    const { nodes } = await findSource(options({ env, localSocket }));
    assert.equal(nodes[0]?.socket, localSocket);
    assert.match(
      warnings.at(-1) ?? '',
      /Kubernetes API server \(KUBECONFIG\): .* Using unix socket/,
    );
  });

  it('does not replace the one that the command line names', async () => {
    const localSocket = join(folder, 'own.sock');
    await assert.rejects(findSource(options({ kubeconfig: '/none', localSocket })), /--kubeconfig/);
  });

  it('asks the own agent on its socket, whatever the source is', async () => {
    const nodes = [nodeObject('own', '10.0.0.1'), nodeObject('other', '10.0.0.2')];
    await using kubernetes = await fakeKubernetes({ '/api/v1/nodes': nodes });
    const { kubeconfig } = kubernetes;
    const own = { socket: '/run/own.sock', addresses: ['10.0.0.1'] };
    const directory = new NodeDirectory(
      () => findSource(options({ kubeconfig })),
      own,
      async () => undefined,
    );
    const sockets = (await directory.nodes()).map(({ socket }) => socket);
    assert.deepEqual(sockets, [undefined, '/run/own.sock']);
  });
});
