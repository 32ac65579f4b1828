/** The kernel's table and the simulator's after the same random changes and restarts of the agent. */
import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import type { Frontend, SocketService, SocketTable } from '#linux/socket-services/api.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import {
  backendPlaces,
  canonical,
  someService,
} from '#test/linux/socket-services/some-services.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import type { Answer } from './client.ts';
import { type SocketClient, SocketMachine } from './machine.ts';

const FILE = 'test/integration/kernel/socket-services/random-tables.test.ts';
const NAME = 'the table of the kernel is that of the simulator';

type Step = SocketService | 'restart' | 'undeploy';

const someStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: someService },
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
        const known = new Map<string, Frontend>();
        for (const steps of turns) {
          let running: Promise<void>[] = [];
          for (const step of steps) {
            if (typeof step !== 'string') {
              running.push(change(kernel, step), change(simulated, step));
              for (const one of step.mappings.flatMap(({ frontends }) => frontends))
                known.set(`${one.protocol} ${one.address} ${one.port}`, one);
              continue;
            }
            await Promise.all(running);
            running = [];
            if (step === 'undeploy') await Promise.all([kernel.remove(), simulated.remove()]);
            kernel = machine.table();
          }
          await Promise.all(running);
          const services = await simulated.services();
          assert.deepEqual(canonical(await kernel.services()), canonical(services));
          for (const [name, one] of known)
            checkAnswer(await ask(client, one), backendsOf(services, name), name);
        }
      }),
    );
  });
});

async function change(table: SocketTable, service: SocketService): Promise<void> {
  if (service.mappings.length > 0) await table.put(service);
  else await table.delete(service.name);
}

/** Backends of an address, or none if no service has it. */
function backendsOf(
  services: readonly SocketService[],
  name: string,
): readonly string[] | undefined {
  return services
    .flatMap(({ mappings }) => mappings)
    .find(({ frontends }) =>
      frontends.some((one) => `${one.protocol} ${one.address} ${one.port}` === name),
    )
    ?.backends.map(({ address, port }) => `${address} ${port}`);
}

async function ask(client: SocketClient, to: Frontend): Promise<Answer> {
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
