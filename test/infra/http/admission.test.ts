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
  readonly #ends: (() => void)[] = [];

  async request(address: string): Promise<void> {
    const leave = await this.admission.enter(address);
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
});
