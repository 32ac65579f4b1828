import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { VppCommandTimeoutError, VppDisconnectedError, VppTimeoutError } from '#vpp/binapi/api.ts';
import { countSettled, setFlagsFields } from './count-settled.ts';
import { connected, type Received, settle } from './scripted-vpp.ts';

test('an unanswered request times out, and the connection is dropped', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const first = client
    .request('sw_interface_set_flags', setFlagsFields(1))
    .catch((thrown: unknown) => thrown);
  const second = client
    .request('sw_interface_set_flags', setFlagsFields(2))
    .catch((thrown: unknown) => thrown);
  await settle();
  await clock.advance(999);
  assert.equal(client.state, 'connected');
  await clock.advance(1);
  const error = await first;
  assert.ok(error instanceof VppTimeoutError);
  assert.match(error.message, /sw_interface_set_flags.*1000 ms/);
  assert.ok((await second) instanceof VppDisconnectedError);
  await clock.advance(1000);
  assert.equal(client.generation, 2);
});

test('a long queue causes no timeout: the timeout starts when a request becomes the oldest', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  const open: Received[] = [];
  vpp.scripts.set('sw_interface_set_flags', (message) => open.push(message));
  const all = Array.from({ length: 20 }, (_, i) =>
    client.request('sw_interface_set_flags', setFlagsFields(i)),
  );
  const { errors } = countSettled(all);
  await settle();
  for (let i = 0; i < 19; i++) {
    await clock.advance(900);
    vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, open[i]!.context);
    await settle();
  }
  assert.equal(errors.length, 0);
  await clock.advance(1000);
  assert.ok(errors[0] instanceof VppTimeoutError);
});

test('a request that VPP dropped times out although all others are answered', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  vpp.scripts.set('sw_interface_set_flags', ({ fields, context }) => {
    if (fields['sw_if_index'] !== 0)
      vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, context);
  });
  const lost = client
    .request('sw_interface_set_flags', setFlagsFields(0))
    .catch((error: unknown) => error);
  for (let i = 1; i <= 10; i++) {
    await client.request('sw_interface_set_flags', setFlagsFields(i)).catch(() => undefined);
    await clock.advance(100);
  }
  assert.ok((await lost) instanceof VppTimeoutError);
});

test('a long dump does not time out as long as details arrive', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  vpp.scripts.set('control_ping', () => undefined);
  const dump = client.dump('ip_unnumbered_dump', {});
  await settle();
  const { context } = vpp.received[0]!;
  for (let i = 0; i < 10; i++) {
    await clock.advance(900);
    vpp.reply('ip_unnumbered_details', { sw_if_index: i, ip_sw_if_index: 0 }, context);
    await settle();
  }
  vpp.reply('control_ping_reply', { retval: 0, vpe_pid: 0 }, context);
  assert.equal((await dump).length, 10);
});

/** Runs a hook where a process reads its sockets: after timers, before the next turn. */
class PollingClock extends ManualClock {
  onPoll: () => void = () => undefined;
  override turn(): Promise<void> {
    this.onPoll();
    return super.turn();
  }
}

test('an answer that is in the socket when the timer fires is accepted', async () => {
  const clock = new PollingClock();
  const { vpp, client } = await connected({ replyTimeoutMs: 1000, clock });
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const request = client.request('sw_interface_set_flags', setFlagsFields(1));
  await settle();
  const { context } = vpp.received[0]!;
  await clock.advance(999);
  const due = clock.monotonic() + 1;
  clock.onPoll = () => {
    if (clock.monotonic() < due) return;
    clock.onPoll = () => undefined;
    vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, context);
  };
  await clock.advance(1);
  assert.deepEqual(await request, { retval: 0 });
  assert.equal(client.generation, 1);
});

/** A clock that can simulate a stalled process, whose timers fire late. */
class StallingClock extends ManualClock {
  late = 0;
  override monotonic(): number {
    return super.monotonic() + this.late;
  }
}

test('a stall of this process restarts the timeout', async () => {
  const clock = new StallingClock();
  const { vpp, client } = await connected({ replyTimeoutMs: 1000, clock });
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const outcome = countSettled([client.request('sw_interface_set_flags', setFlagsFields(1))]);
  await settle();
  await clock.advance(500);
  clock.late = 20_000;
  await clock.advance(500); // fires now, 20 s too late
  assert.equal(outcome.settled(), 0);
  await clock.advance(999);
  assert.equal(outcome.settled(), 0);
  await clock.advance(1);
  assert.ok(outcome.errors[0] instanceof VppTimeoutError);
});

const health = { intervalMs: 3000, timeoutMs: 500, maxMisses: 3 };

test('three unanswered probes drop the connection', async () => {
  const { vpp, client, clock } = await connected({ health, replyTimeoutMs: 1e9 });
  await clock.advance(60_000);
  assert.equal(client.generation, 1);
  assert.equal(vpp.received.length, 20);
  vpp.isHung = true;
  const { errors } = countSettled([client.request('sw_interface_set_flags', setFlagsFields(1))]);
  await clock.advance(9499);
  assert.equal(client.state, 'connected');
  await clock.advance(1);
  assert.notEqual(client.state, 'connected');
  assert.ok(errors[0] instanceof VppDisconnectedError);
  vpp.isHung = false;
  await clock.advance(10_000);
  assert.equal(client.generation, 2);
});

test('occasional missed probes are tolerated, and any message proves that VPP is alive', async () => {
  const { vpp, client, clock } = await connected({ health });
  let probes = 0;
  vpp.scripts.set('control_ping', ({ context }) => {
    if (++probes % 3 === 0) vpp.reply('control_ping_reply', { retval: 0, vpe_pid: 1 }, context);
  });
  await clock.advance(60_000);
  assert.equal(client.generation, 1);
  vpp.scripts.set('control_ping', () =>
    vpp.reply('sw_interface_event', { pid: 1, sw_if_index: 1, flags: 0, deleted: false }),
  );
  await clock.advance(60_000);
  assert.equal(client.generation, 1);
});

test('probes detect a stream that is out of sync: bytes arrive, but no message', async () => {
  const { vpp, client, clock } = await connected({ health, replyTimeoutMs: 1e9 });
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1_000_000, 8);
  vpp.send(header);
  await clock.advance(12_000);
  assert.equal(client.generation, 2);
  await client.request('control_ping', {});
  await client.close();
});

test('a command that lasts is an error of its request alone', async () => {
  const health = { intervalMs: 3000, timeoutMs: 500, maxMisses: 3 };
  const limits = { replyTimeoutMs: 1000, commandTimeoutMs: 10_000, health };
  const { vpp, client, clock } = await connected(limits);
  vpp.answer('sw_interface_set_flags', 'sw_interface_set_flags_reply', () => ({ retval: 0 }));
  const waiting: (() => void)[] = [];
  vpp.scripts.set('cli_inband', ({ context }) => {
    waiting.push(() => vpp.reply('cli_inband_reply', { retval: 0, reply: 'done' }, context));
  });
  // VPP answers nothing while it executes the command
  const { scripts } = vpp;
  const busy = (name: string) => {
    const script = scripts.get(name);
    scripts.set(name, (message) => void waiting.push(() => script?.(message, vpp)));
    return () => script && scripts.set(name, script);
  };
  const idle = [busy('sw_interface_set_flags'), busy('control_ping')];
  const command = client.request('cli_inband', { cmd: 'show ip fib' });
  const outcome = command.catch((thrown: unknown) => thrown);
  const behind = client.request('sw_interface_set_flags', setFlagsFields(1));
  await settle();
  for (let second = 0; second < 10; second++) {
    assert.equal(client.state, 'connected', `after ${second} s`);
    await clock.advance(1000);
    await settle();
  }
  const error = await outcome;
  assert.ok(error instanceof VppCommandTimeoutError);
  assert.match(error.message, /10000 ms/);
  await clock.advance(2000);
  for (const end of idle) end();
  for (const answer of waiting) answer();
  await settle();
  await behind;
  assert.equal(client.generation, 1);
  // the limit of others is as before, although the one of a command was running
  scripts.set('sw_interface_set_flags', () => undefined);
  const next = client.request('cli_inband', { cmd: 'show version' });
  const lost = client
    .request('sw_interface_set_flags', setFlagsFields(2))
    .catch((thrown: unknown) => thrown);
  await settle();
  waiting.at(-1)!();
  assert.equal((await next).reply, 'done');
  await clock.advance(1000);
  assert.ok((await lost) instanceof VppTimeoutError);
});

test('a VPP that does not end a command is given up by the health probes', async () => {
  const health = { intervalMs: 3000, timeoutMs: 500, maxMisses: 3 };
  const { vpp, client, clock } = await connected({ commandTimeoutMs: 10_000, health });
  for (const name of ['cli_inband', 'control_ping']) vpp.scripts.set(name, () => undefined);
  const command = client.request('cli_inband', { cmd: 'test hang' }).catch((error) => error);
  const behind = client
    .request('sw_interface_set_flags', setFlagsFields(1))
    .catch((thrown: unknown) => thrown);
  for (let second = 0; second < 21; second++) {
    await settle();
    await clock.advance(1000);
  }
  assert.ok((await command) instanceof VppCommandTimeoutError);
  assert.ok((await behind) instanceof VppDisconnectedError);
});
