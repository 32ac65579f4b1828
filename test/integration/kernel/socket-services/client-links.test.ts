/**
 * Clients at a NIC of the host, with a namespace in the place of VPP: it has the addresses of the host, so an answer has
 * passed the programs at both links.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { Netns, runIn } from '../../support/netns.ts';
import { SysFs } from '../../support/sys-fs.ts';
import type { Frames } from './frames.ts';
import type { LedNodePort } from './links-agent.ts';
import { SocketClient, SocketMachine } from './machine.ts';

const PORT = 30_080;
const ADDRESS = '172.16.1.1';
/** More frames than others that a link carries meanwhile. */
const COUNT = 100;
/** Of IPv4, hexadecimal, from 172.16.1.2 to the node port. */
const REQUEST = '4500001c000000004011209bac100102ac1001010400758000080000';
/** To that client. @param port hexadecimal */
const replyFrom = (port: string): string =>
  `4500001c000000004011209bac100101ac100102${port}040000080000`;
const toVpp = { links: ['nic'], vppLink: 'vpp1', gateway: '172.30.1.1' };
const VPP_MAC = '02:fe:00:00:00:01';

describe('clients at a NIC of the host', { skip: withoutSocketHooks() }, () => {
  const machine = new SocketMachine();
  /** Sockets of clients outside are not translated. */
  const outside = new SysFs();
  let host: Netns;
  let vpp: SocketClient;
  let client: SocketClient;

  before(async () => {
    host = await Netns.create('host');
    [vpp, client] = [
      await SocketClient.start(outside.group),
      await SocketClient.start(outside.group),
    ];
    const ip = (namespace: string, command: string) =>
      runIn(namespace, 'ip', ...command.split(' '));
    await ip(host.path, `link add nic type veth peer name eth0 netns ${nameOf(client)}`);
    await ip(host.path, `link add vpp1 type veth peer name tap netns ${nameOf(vpp)}`);
    await ip(vpp.namespace, `link set tap address ${VPP_MAC}`);
    for (const [namespace, link, own] of [
      [host.path, 'nic', `${ADDRESS}/24`],
      [host.path, 'vpp1', '172.30.1.2/24'],
      [client.namespace, 'eth0', '172.16.1.2/24'],
      [vpp.namespace, 'tap', '172.30.1.1/24'],
      [vpp.namespace, 'lo', `${ADDRESS}/32`],
    ] as const) {
      await ip(namespace, `address add ${own} dev ${link}`);
      await ip(namespace, `link set ${link} up`);
    }
    await ip(vpp.namespace, 'route add default via 172.30.1.2');
    await runIn(host.path, 'sysctl', '-qw', 'net.ipv4.ip_forward=1');
    await vpp.serve({ address: ADDRESS, port: PORT });
    const led: LedNodePort = { sysFs: machine.sysFs, port: PORT, addresses: [ADDRESS], ...toVpp };
    const agent = join(import.meta.dirname, 'links-agent.ts');
    await host.run(process.execPath, agent, JSON.stringify(led));
  });

  after(async () => {
    await client?.close();
    await vpp?.close();
    await machine.close();
    outside[Symbol.dispose]();
    await host?.remove();
  });

  it('are led to VPP, and its replies back', { timeout: 10_000 }, async () => {
    const to = { address: ADDRESS, port: PORT };
    const server = `${ADDRESS} ${PORT}`;
    const sent = await client.request({ kind: 'send', socket: 'outside', to, family: 4 });
    assert.equal(sent.server, server);
    assert.equal((await client.request({ kind: 'connect', to })).server, server);
  });

  it('of a VLAN above it meet the program of the VLAN, not that of the NIC', async () => {
    const sent = (tag: string) =>
      passed({ from: client, link: 'eth0', by: 'nic', type: `${tag}0800`, datagram: REQUEST }, vpp);
    const untagged = await sent('');
    assert.ok(untagged >= COUNT, `${untagged} of ${COUNT}`);
    const tagged = await sent('81000064');
    assert.ok(tagged < COUNT, `${tagged} of ${COUNT}`);
  });

  it('get no packet of a pod that sends with an address of the host', async () => {
    const sent = (port: string) =>
      passed(
        { from: vpp, link: 'tap', by: 'vpp1', type: '0800', datagram: replyFrom(port) },
        client,
      );
    const reply = await sent('7580');
    assert.ok(reply >= COUNT, `${reply} of ${COUNT}`);
    const forged = await sent('7581');
    assert.ok(forged < COUNT, `${forged} of ${COUNT}`);
  });

  it('get from a served port no packet that opens a connection, and of ICMP errors alone', async () => {
    const sent = (protocol: string, content: string) =>
      passed(
        {
          from: vpp,
          link: 'tap',
          by: 'vpp1',
          type: '0800',
          datagram: `4500002800000000 40${protocol}0000 ac100101 ac100102 ${content}`.replaceAll(
            ' ',
            '',
          ),
        },
        client,
      );
    const ofTcp = (flags: string) =>
      sent('06', `75800400 00000001 00000000 50${flags}0400 00000000`);
    const ofIcmp = (type: string) =>
      sent('01', `${type}000000 00000000 4500001c 00000000 40110000`);
    for (const [name, count] of [
      ['SYN with ACK', await ofTcp('12')],
      ['ACK', await ofTcp('10')],
      ['RST', await ofTcp('04')],
      ['destination unreachable', await ofIcmp('03')],
      ['time exceeded', await ofIcmp('0b')],
    ] as const)
      assert.ok(count >= COUNT, `${name}: ${count} of ${COUNT}`);
    for (const [name, count] of [
      ['SYN', await ofTcp('02')],
      ['echo request', await ofIcmp('08')],
      ['echo reply', await ofIcmp('00')],
      ['redirect', await ofIcmp('05')],
    ] as const)
      assert.ok(count < COUNT, `${name}: ${count} of ${COUNT}`);
  });

  interface Sent {
    readonly from: SocketClient;
    /** Of the sender. */
    readonly link: string;
    /** Of the host, at the other end. */
    readonly by: string;
    /** Hexadecimal, as the datagram. */
    readonly type: string;
    readonly datagram: string;
  }

  /** Sends COUNT frames. @returns how many packets more the other one has received */
  async function passed(sent: Sent, to: SocketClient): Promise<number> {
    const link = to === vpp ? 'tap' : 'eth0';
    const received = async () => (await linkOf(to.namespace, link)).stats64.rx.packets;
    const before = await received();
    const script = join(import.meta.dirname, 'frames.ts');
    const mac = (await linkOf(host.path, sent.by)).address.replaceAll(':', '');
    const digits = `${mac}020000000001${sent.type}${sent.datagram}`.padEnd(124, '0');
    const { ifindex } = await linkOf(sent.from.namespace, sent.link);
    const frames: Frames = { link: ifindex, digits, count: COUNT };
    await runIn(sent.from.namespace, process.execPath, script, JSON.stringify(frames));
    return (await received()) - before;
  }
});

interface LinkJson {
  readonly ifindex: number;
  readonly address: string;
  readonly stats64: { readonly rx: { readonly packets: number } };
}

async function linkOf(namespace: string, name: string): Promise<LinkJson> {
  const text = await runIn(namespace, 'ip', '-j', '-s', 'link', 'show', name);
  const [found] = JSON.parse(text) as [LinkJson];
  return found;
}

/** Name of the namespace of a client. */
function nameOf({ namespace }: SocketClient): string {
  return namespace.slice(namespace.lastIndexOf('/') + 1);
}
