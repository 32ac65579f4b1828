/** The kernel's table and the simulator's after the same random changes and restarts of the agent. */
import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import type { Destination, SocketProtocol } from '#linux/socket-services/api.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import {
  atDestinations,
  backendPlaces,
  canonical,
  change,
  DesiredTable,
  someChange,
  type TableChange,
} from '#test/linux/socket-services/some-services.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import type { Answer } from './client.ts';
import { type SocketClient, SocketMachine } from './machine.ts';

const FILE = 'test/integration/kernel/socket-services/random-tables.test.ts';
const NAME = 'the table of the kernel is that of the simulator';

type Step = TableChange | 'restart' | 'undeploy';

const someStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: someChange },
  { weight: 2, arbitrary: fc.constant('restart' as const) },
  { weight: 1, arbitrary: fc.constant('undeploy' as const) },
);

/** Changes of one turn of the event loop, which wait for each other. */
const someSteps = fc.array(fc.array(someStep, { minLength: 1, maxLength: 3 }), {
  minLength: 2,
  maxLength: 8,
});

describe('random tables of services at sockets', { skip: withoutSocketHooks() }, () => {
  let machine: SocketMachine;
  let client: SocketClient;

  before(async () => {
    machine = new SocketMachine();
    client = await machine.client();
    for (const one of backendPlaces) await client.addAddress(one.address);
    await client.serve(...backendPlaces);
  });
  after(() => machine.close());

  test(NAME, async () => {
    await checkProperty(
      { file: FILE, name: NAME },
      40,
      fc.asyncProperty(someSteps, async (turns) => {
        let kernel = machine.table();
        await kernel.remove();
        kernel = machine.table();
        const simulated = new SimSocketTable(seededRandom(1), new ManualClock());
        let desired = new DesiredTable();
        const asked = new Set<string>();
        for (const steps of turns) {
          let running: Promise<void>[] = [];
          for (const step of steps) {
            if (typeof step !== 'string') {
              running.push(change(kernel, step), change(simulated, step));
              desired = desired.with(step);
              continue;
            }
            await Promise.all(running);
            running = [];
            if (step === 'undeploy') {
              await Promise.all([kernel.remove(), simulated.remove()]);
              desired = new DesiredTable();
            }
            kernel = machine.table();
          }
          await Promise.all(running);
          assert.deepEqual(
            canonical(await kernel.services()),
            canonical(await simulated.services()),
          );
          const reached = backendsAt(desired);
          for (const name of reached.keys()) asked.add(name);
          for (const name of asked)
            checkAnswer(await ask(client, destination(name)), reached.get(name), name);
        }
      }),
    );
  });
});

/** Backends by text of the destination. */
function backendsAt({ services, nodes }: DesiredTable): ReadonlyMap<string, readonly string[]> {
  return atDestinations(
    [...services.values()].flatMap(({ mappings }) =>
      mappings.flatMap(({ frontends, backends }) => {
        const places = backends.map(({ address, port }) => `${address} ${port}`);
        return frontends.map((one) => [one, places] as const);
      }),
    ),
    nodes.values(),
  );
}

function destination(text: string): Destination {
  const [protocol, address = '', port] = text.split(' ');
  return { protocol: protocol as SocketProtocol, address, port: Number(port) };
}

async function ask(client: SocketClient, to: Destination): Promise<Answer> {
  if (to.protocol === 'TCP') return await client.request({ kind: 'connect', to });
  const family = isIPv6(to.address) ? 6 : 4;
  return await client.request({ kind: 'send', socket: `of IPv${family}`, to, family });
}

function checkAnswer(
  { server, error, peer }: Answer,
  backends: readonly string[] | undefined,
  name: string,
): void {
  if (backends?.length) {
    assert.ok(server !== undefined && backends.includes(server), `${name}: ${server ?? error}`);
    assert.ok(name.endsWith(peer!), `${name} answers as ${peer}`);
  } else assert.equal(error, backends ? 'ECONNREFUSED' : 'ENETUNREACH', name);
}
