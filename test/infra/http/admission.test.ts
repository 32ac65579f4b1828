import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Admission, HttpOverloadError } from '#infra/http/admission.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

class Clients {
  readonly clock = new ManualClock();
  readonly admission = new Admission(this.clock);
  /** Handled requests in order, and how to end each. */
  readonly handled: string[] = [];
  /** Clients whose connection was closed, because they were slow to read. */
  readonly givenUp: string[] = [];
  readonly #ends: (() => void)[] = [];

  /** @param name of the client, if it reads a reply */
  async request(address: string, name?: string): Promise<void> {
    const giveUp = (): boolean => {
      if (name !== undefined) this.givenUp.push(name);
      return name !== undefined;
    };
    const leave = await this.admission.enter({ address, giveUp });
    this.handled.push(address);
    this.#ends.push(leave);
  }

  async endOne(): Promise<void> {
    this.#ends.shift()!();
    for (let n = 0; n < 5; n++) await turn();
  }
}

describe('admission of REST requests', () => {
  it('handles four requests at once, and lets addresses take turns', async () => {
    const clients = new Clients();
    for (let n = 0; n < 12; n++) void clients.request('a');
    void clients.request('b');
    for (let n = 0; n < 5; n++) await turn();
    assert.equal(clients.handled.join(''), 'aaaa');
    for (let n = 0; n < 3; n++) await clients.endOne();
    assert.equal(clients.handled.join(''), 'aaaaaba');
  });

  it('refuses a request when 32 of its address wait', async () => {
    const clients = new Clients();
    for (let n = 0; n < 36; n++) void clients.request('a');
    await assert.rejects(clients.request('a'), HttpOverloadError);
    void clients.request('b');
    await turn();
    await clients.endOne();
    await clients.endOne();
    assert.ok(clients.handled.includes('b'));
  });

  it('refuses every request when 256 wait, and accepts again afterwards', async () => {
    const clients = new Clients();
    for (let n = 0; n < 260; n++) void clients.request(`${n % 10}`);
    await assert.rejects(clients.request('other'), HttpOverloadError);
    for (let n = 0; n < 5; n++) await turn();
    for (let n = 0; n < 260; n++) await clients.endOne();
    assert.equal(clients.handled.length, 260);
    await clients.request('other');
  });

  it('admits the next request when a client has read its reply for ten seconds', async () => {
    const clients = new Clients();
    for (let n = 0; n < 5; n++) void clients.request('slow');
    for (let n = 0; n < 5; n++) await turn();
    assert.equal(clients.handled.length, 4);
    await clients.clock.advance(10_000);
    for (let n = 0; n < 5; n++) await turn();
    assert.equal(clients.handled.length, 5);
    for (let n = 0; n < 5; n++) await clients.endOne();
    for (let n = 0; n < 5; n++) void clients.request('a');
    for (let n = 0; n < 5; n++) await turn();
    assert.equal(clients.handled.length, 9, 'no place is freed twice');
  });

  /** Four at once, each ten seconds after the ones before. */
  async function slowReplies(clients: Clients, requests: readonly [string, string?][]) {
    for (let n = 0; n < requests.length; n += 4) {
      for (const [address, name] of requests.slice(n, n + 4)) void clients.request(address, name);
      for (let round = 0; round < 5; round++) await turn();
      await clients.clock.advance(10_000);
    }
  }

  it('gives up slow replies beyond twelve: the longest of the address that has the most', async () => {
    const clients = new Clients();
    const attacker = (count: number, first = 0) =>
      Array.from({ length: count }, (_, n): [string, string] => ['a', `a${first + n}`]);
    await slowReplies(clients, [['b', 'b0'], ...attacker(11)]);
    assert.deepEqual(clients.givenUp, []);
    await slowReplies(clients, attacker(4, 11));
    assert.deepEqual(clients.givenUp, ['a0', 'a1', 'a2', 'a3']);
  });

  it('does not give up requests without a reply', async () => {
    const clients = new Clients();
    const waiting = Array.from({ length: 12 }, (): [string] => ['a']);
    await slowReplies(clients, [...waiting, ['a', 'a0']]);
    assert.deepEqual(clients.givenUp, ['a0']);
  });

  it('gives up a reply after ten minutes, unless it was read', async () => {
    const clients = new Clients();
    await slowReplies(clients, [
      ['a', 'read'],
      ['a', 'slow'],
    ]);
    await clients.endOne();
    await clients.clock.advance(589_999);
    assert.deepEqual(clients.givenUp, []);
    await clients.clock.advance(1);
    assert.deepEqual(clients.givenUp, ['slow']);
  });
});
