import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { LinuxError } from '#linux/api.ts';
import { parseDump } from '#linux/iproute/dump.ts';
import { errnoOf } from '#linux/iproute/errno.ts';
import { ipBatch, outcomesOf, shScript } from '#linux/iproute/outcome.ts';
import { runProcess } from '#linux/iproute/process.ts';

const mark = (n: number) =>
  `Object "end-of-operation" is unknown, try "ip help".\nCommand failed -:${n}\n`;

describe('outcomes of a batch', () => {
  const commands = [['a'], ['b1', 'b2', 'b3'], ['c']];

  test('lines are counted with their marks', () => {
    assert.equal(
      ipBatch(commands),
      'a\nend-of-operation\nb1\nb2\nb3\nend-of-operation\nc\nend-of-operation\n',
    );
  });

  test('all carried out', () => {
    const stderr = mark(2) + mark(6) + mark(8);
    assert.deepEqual(outcomesOf(stderr, commands), {
      failures: [undefined, undefined, undefined],
      reached: 3,
      rest: '',
    });
  });

  test('a command of several lines fails with its first failure', () => {
    const stderr =
      `${mark(2)}Cannot find device "x"\nCommand failed -:4\n` +
      `RTNETLINK answers: File exists\nCommand failed -:5\n${mark(6)}Warning: hm\n${mark(8)}`;
    assert.deepEqual(outcomesOf(stderr, commands), {
      failures: [undefined, 'Cannot find device "x"', undefined],
      reached: 3,
      rest: '',
    });
  });

  test('an early exit shows how far the batch came and the last output', () => {
    const stderr = `${mark(2)}RTNETLINK answers: No such file or directory\n`;
    const { reached, rest } = outcomesOf(stderr, commands);
    assert.deepEqual([reached, rest], [1, 'RTNETLINK answers: No such file or directory']);
  });

  test('a failure without a word is a failure', () => {
    assert.deepEqual(outcomesOf(`Command failed -:1\n${mark(2)}`, [['a']]).failures, [
      'refused without a reason',
    ]);
  });

  test('sh reports in the same words', async () => {
    const lines = [['true'], ['false', "echo 'no: such: File exists' >&2; exit 3"], ['exit 0']];
    const { code, stderr } = await runProcess(systemClock, {
      command: 'sh',
      args: ['-s'],
      input: shScript(lines),
      files: [],
      limitMs: 10_000,
    });
    assert.equal(code, 0);
    assert.deepEqual(outcomesOf(stderr, lines), {
      failures: [undefined, 'refused without a reason', undefined],
      reached: 3,
      rest: '',
    });
  });
});

test('errno names come from the text of strerror, of ip and of the kernel', () => {
  assert.equal(errnoOf('RTNETLINK answers: File exists'), 'EEXIST');
  assert.equal(errnoOf('Error: ipv4: Address not found.'), 'EADDRNOTAVAIL');
  assert.equal(errnoOf('Error: ipv4: FIB table does not exist.'), 'ESRCH');
  assert.equal(errnoOf('Device "veth1" does not exist.'), 'ENODEV');
  assert.equal(
    errnoOf('netlink error: no device matches name\nnetlink error: No such device'),
    'ENODEV',
  );
  assert.equal(errnoOf('Error: something that no table knows.'), undefined);
});

describe('a process', () => {
  test('ends at the limit, with its children', async () => {
    const clock = new ManualClock();
    const ended = runProcess(clock, {
      command: 'sh',
      args: ['-c', 'sleep 1000 & wait'],
      files: [],
      limitMs: 5000,
    });
    await clock.advance(4999);
    await clock.advance(1);
    // the child holds the output open: a child that lived on would keep this waiting
    const { code, timedOut } = await ended;
    assert.deepEqual([code, timedOut], [undefined, true]);
    assert.equal(clock.pending, 0);
  });

  test('that cannot be started says so', async () => {
    const request = { command: 'no-such-program', args: [], files: [], limitMs: 1000 };
    await assert.rejects(runProcess(systemClock, request), (error: unknown) => {
      assert.ok(error instanceof LinuxError);
      assert.equal(error.errno, 'ENOENT');
      assert.match(error.message, /no-such-program is not installed/);
      return true;
    });
  });
});

describe('a dump', () => {
  const link = {
    ifindex: 7,
    ifname: 'eth0',
    flags: ['UP', 'LOWER_UP'],
    mtu: 1500,
    link_type: '[1]',
    address: '02:fe:00:00:00:01',
    addr_info: [],
  };
  const read = (links: unknown, routes: unknown = [], neighbors: unknown = []) =>
    parseDump([links, routes, neighbors].map((part) => JSON.stringify(part)).join('\n'));

  test('routes of other tables, types and next hops are left out', () => {
    const main = {
      type: '1',
      dst: 'default',
      dev: 'eth0',
      table: '254',
      protocol: '3',
      scope: '0',
    };
    const { routes } = read(
      [link],
      [
        main,
        { ...main, table: '255' },
        { ...main, type: '6' },
        { type: '1', dst: 'default', protocol: '3', nexthops: [{ dev: 'eth0' }] },
        { ...main, via: { family: 'inet6', host: 'fe80::1' } },
        { ...main, dst: 'fe80::/64', pref: 'medium' },
        { ...main, gateway: 'fe80::1', pref: 'medium', metric: 1024 },
        { ...main, dst: '10.1.1.1', scope: 253 },
      ],
    );
    assert.deepEqual(
      routes.map((r) => `${r.destination} ${r.gateway} ${r.scope} ${r.metric} ${r.protocol}`),
      [
        '0.0.0.0/0 undefined global 0 3',
        '10.1.1.1/32 undefined link 0 3',
        '::/0 fe80::1 global 1024 3',
      ],
    );
  });

  test('of another shape is refused', () => {
    const bad: unknown[] = [
      [{ ...link, mtu: 'big' }],
      [{ ...link, flags: 'UP' }],
      [{ ...link, addr_info: [{ local: '10.1.1.1' }] }],
      'nothing',
    ];
    for (const links of bad) assert.throws(() => read(links), LinuxError);
    assert.throws(() => read([link], [{ dst: '10.1.1.1', dev: 'eth0' }]), LinuxError);
    assert.throws(() => read([link], [], [{ dst: '10.1.1.1', lladdr: 'x' }]), LinuxError);
    assert.throws(() => parseDump('[]\n[]'), LinuxError);
    assert.throws(() => parseDump('no json'), LinuxError);
  });
});
