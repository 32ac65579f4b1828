/**
 * An etcd on a machine of its own: a network namespace with one link to the node, which is not one of
 * VPP's. Agents reach it over TLS, with a client certificate.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificateOptions, makeCertificate } from '#test/support/certificates.ts';
import type { AgentConfig } from './agent.ts';
import { RealEtcd } from './etcd.ts';
import { Netns } from './netns.ts';

const ADDRESS = '192.0.2.1';
const NODE_ADDRESS = '192.0.2.11';
/** On the machine of etcd. */
const LINK = 'to-node';

export class EtcdMachine implements AsyncDisposable {
  readonly etcd: RealEtcd;
  readonly netns: Netns;
  readonly #folder: string;

  /** With etcd running; the node is not connected yet. */
  static async create(): Promise<EtcdMachine> {
    const machine = new EtcdMachine(await Netns.create('etcd'));
    await machine.etcd.start();
    return machine;
  }

  private constructor(netns: Netns) {
    this.netns = netns;
    this.#folder = mkdtempSync(join(tmpdir(), 'etcd-machine-'));
    for (const authority of ['ca', 'other-ca']) makeCertificate(this.#folder, authority, authority);
    this.certify('server');
    this.certify('client');
    this.etcd = new RealEtcd(netns, join(this.#folder, 'etcd'), '0.0.0.0', [
      `--cert-file=${this.file('server.crt')}`,
      `--key-file=${this.file('server.key')}`,
      `--trusted-ca-file=${this.file('ca.crt')}`,
      '--client-cert-auth',
    ]);
  }

  /** A file with a certificate (`.crt`) or a key (`.key`). */
  file(name: string): string {
    return join(this.#folder, name);
  }

  /** Makes a certificate; etcd reads that of the server again for each connection. */
  certify(name: 'server' | 'client', authority = 'ca', options?: CertificateOptions): void {
    makeCertificate(this.#folder, name, authority, {
      names: `IP:${ADDRESS}`,
      ...options,
    });
  }

  /** Replaces the authority by another one, which signs a new certificate for the server. */
  replaceAuthority(): void {
    for (const extension of ['crt', 'key'])
      copyFileSync(this.file(`other-ca.${extension}`), this.file(`ca.${extension}`));
    this.certify('server');
  }

  /** etcd.conf of the node. */
  get config(): NonNullable<AgentConfig['etcd']> {
    return {
      endpoints: [`https://${ADDRESS}:2379`],
      'ca-file': this.file('ca.crt'),
      'cert-file': this.file('client.crt'),
      'key-file': this.file('client.key'),
    };
  }

  /** Connects the node by a link. */
  async connect(node: Netns): Promise<void> {
    const peer = ['type', 'veth', 'peer', 'name', 'mgmt', 'netns', node.path];
    await this.netns.run('ip', 'link', 'add', LINK, ...peer);
    await this.netns.run('ip', 'addr', 'add', `${ADDRESS}/24`, 'dev', LINK);
    await this.raiseLink();
    await node.run('ip', 'addr', 'add', `${NODE_ADDRESS}/24`, 'dev', 'mgmt');
    await node.run('ip', 'link', 'set', 'mgmt', 'up');
  }

  /** The node sees that its link is down. */
  async cutLink(): Promise<void> {
    await this.netns.run('ip', 'link', 'set', LINK, 'down');
  }

  async raiseLink(): Promise<void> {
    await this.netns.run('ip', 'link', 'set', LINK, 'up');
  }

  /** Packets of a direction vanish without an error. */
  async drop(chain: 'INPUT' | 'OUTPUT'): Promise<void> {
    const link = [chain === 'INPUT' ? '-i' : '-o', LINK];
    await this.netns.run('iptables', '-A', chain, ...link, '-j', 'DROP');
  }

  async dropNothing(): Promise<void> {
    await this.netns.run('iptables', '-F');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.etcd.close();
    await this.netns.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
