/** Requests to agents with HTTPS: which certificates are accepted, and to whom the own one is shown. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { httpSchema } from '#infra/http/config.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { OtherAgents } from '../../../../src/cmd/agent/cluster/other-agents.ts';

const folder = temporaryFolder('other-agents');
const file = (name: string) => join(folder, name);
const ownNetwork = {
  addresses: ['192.168.16.1'],
  gateways: [],
  subnets: { 'pod subnet': ['10.1.0.0/16'], 'service subnet': ['10.96.0.0/12'] },
};
const defaults = parseConfig(httpSchema, '', undefined).value;

describe('agents with HTTPS', { skip: withoutOpenssl() }, () => {
  const servers: Server[] = [];
  before(() => {
    for (const authority of ['ca', 'other-ca']) makeCertificate(folder, authority, authority);
    makeCertificate(folder, 'shared', 'ca');
    makeCertificate(folder, 'node', 'ca', { names: 'IP:127.0.0.1' });
    makeCertificate(folder, 'elsewhere', 'ca', { names: 'IP:192.0.2.1' });
    makeCertificate(folder, 'foreign', 'other-ca', { names: 'IP:127.0.0.1' });
  });
  after(() => {
    for (const server of servers) server.close();
  });

  /** @returns whether the client has shown a certificate of the authority */
  async function ask(
    serverName: string,
    ownName: string,
    clients: readonly string[] = [],
  ): Promise<boolean> {
    const server = createServer(
      {
        cert: readFileSync(file(`${serverName}.crt`)),
        key: readFileSync(file(`${serverName}.key`)),
        ca: readFileSync(file('ca.crt')),
        requestCert: true,
        rejectUnauthorized: false,
      },
      ({ socket }, response) => response.end(String((socket as TLSSocket).authorized)),
    );
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const agents = new OtherAgents({
      label: 'node1',
      http: {
        ...defaults,
        'server-cert-file': file(`${ownName}.crt`),
        'server-key-file': file(`${ownName}.key`),
        'client-cert-files': clients.map((name) => file(`${name}.crt`)),
      },
      nodes: { allNodes: () => new Map() },
      net: { ownNetwork: () => ownNetwork },
      addressOf: () => ({ host: '127.0.0.1', port }),
      clock: systemClock,
    });
    const known = { name: 'node2', id: 2, managementAddresses: [] };
    const { client, node } = agents.of(known, undefined, new AbortController().signal);
    return (await client.text(node, { method: 'GET', path: 'readiness' })) === 'true';
  }

  it('may have the certificate of this one, whatever it names', async () => {
    assert.equal(await ask('shared', 'shared'), false);
  });

  it('may have a certificate for their address of the same authority', async () => {
    assert.equal(await ask('node', 'shared', ['ca']), true);
    assert.equal(await ask('node', 'ca'), false);
  });

  it('are asked nothing with any other certificate', async () => {
    await assert.rejects(ask('elsewhere', 'shared', ['ca']), { code: 'CV_NETCTL_REQUEST' });
    await assert.rejects(ask('foreign', 'shared', ['ca']), { code: 'CV_NETCTL_REQUEST' });
    await assert.rejects(ask('node', 'shared'), { code: 'CV_NETCTL_REQUEST' });
  });
});

describe('the address of an agent', () => {
  const agents = new OtherAgents({
    label: 'node1',
    http: defaults,
    nodes: { allNodes: () => new Map() },
    net: { ownNetwork: () => ownNetwork },
    addressOf: undefined,
    clock: systemClock,
  });
  const { signal } = new AbortController();
  const hostOf = (...managementAddresses: string[]) =>
    agents.of({ name: 'node2', id: 2, managementAddresses }, 'Bearer x', signal).node.host;

  it('is the first of its Node object that its host can have', () => {
    assert.equal(hostOf('node2', '127.0.0.1', '192.168.16.2', '192.168.16.3'), '192.168.16.2');
    assert.equal(hostOf('::1', '2001:db8::2'), '2001:db8::2');
  });

  it('is none of a pod, of a service, of this node, or of the link, which would get the credentials', () => {
    for (const address of ['10.1.3.4', '10.96.0.10', '192.168.16.1', '169.254.169.254', 'fe80::1'])
      assert.equal(hostOf(address), undefined, address);
    assert.equal(hostOf(), undefined);
  });
});
