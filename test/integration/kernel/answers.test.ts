/** The answers of the kernel to a request for some links. */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { OpenNamespace } from '#linux/kernel/open-namespaces.ts';
import { SocketRegister } from '#linux/kernel/socket-register.ts';
import { closeSocket, openSocket, receive, send } from '#linux/kernel/system-calls.ts';
import { decodeMessages } from '#linux/netlink/messages.ts';
import { NetlinkSocket } from '#linux/netlink/socket.ts';
import { findLinks } from '#linux/netlink/state.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { Netns } from '../support/netns.ts';

describe('the kernel, asked for links by name', { skip: withoutKernel(), timeout: 60_000 }, () => {
  const spaces: Netns[] = [];
  const newSpace = async (): Promise<Netns> => {
    const space = await Netns.create('answers');
    spaces.push(space);
    return space;
  };

  after(() => Promise.all(spaces.map((space) => space.remove())));

  it('answers with as many messages among many links as among few', async () => {
    const space = await newSpace();
    let pairs = 0;
    /** Each end has an IPv6 address, which the kernel makes. */
    const addPairs = async (count: number): Promise<void> => {
      for (; pairs < count; pairs++) {
        const [a, b] = [`va${pairs}`, `vb${pairs}`];
        await space.run('ip', 'link', 'add', a, 'type', 'veth', 'peer', 'name', b);
        for (const end of [a, b]) await space.run('ip', 'link', 'set', end, 'up');
      }
    };
    const counts: number[] = [];
    for (const count of [2, 20]) {
      await addPairs(count);
      await space.run('ip', 'addr', 'replace', '10.9.8.7/32', 'dev', 'va1');
      const { links, messages } = messagesFor(space.path, ['va1', 'vb1']);
      assert.deepEqual(
        links.map(({ name, addresses }) => [name, addresses]),
        [
          ['va1', ['10.9.8.7/32']],
          ['vb1', []],
        ],
      );
      counts.push(messages);
    }
    assert.equal(counts[0], counts[1]);
  });

  it('does not take another name of a link for its own', async () => {
    const space = await newSpace();
    await space.run('ip', 'link', 'add', 'va', 'type', 'veth', 'peer', 'name', 'vb');
    await space.run('ip', 'link', 'property', 'add', 'dev', 'va', 'altname', 'other');
    assert.deepEqual(messagesFor(space.path, ['other']).links, []);
  });
});

function messagesFor(path: string, names: readonly string[]) {
  const namespace = new OpenNamespace(path, new SocketRegister());
  const file = namespace.enter(() => openSocket('route'));
  let messages = 0;
  const socket = new NetlinkSocket({
    send: (bytes) => send(file, bytes),
    receive: (into) => {
      const length = receive(file, into);
      messages += decodeMessages(Buffer.from(into.buffer, into.byteOffset, length)).length;
      return length;
    },
  });
  try {
    return { links: findLinks(socket, names), messages };
  } finally {
    closeSocket(file);
    namespace.close();
  }
}
