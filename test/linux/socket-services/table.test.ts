import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import { type Place, type Reached, testSocketTable } from './table-suite.ts';

testSocketTable('the simulator', false, async () => {
  const clock = new ManualClock();
  const table = new SimSocketTable(seededRandom(2026), clock);
  const reached = (decision: ReturnType<SimSocketTable['connect']>): Reached => {
    if (decision.to === 'backend') return `${decision.address} ${decision.port}`;
    return decision.to === 'refused' ? 'refused' : undefined;
  };
  return {
    table,
    namespaces: ['0', '1'],
    restart: async () => undefined,
    connect: async (namespace, to: Place) =>
      reached(table.connect(String(namespace), { ...to, protocol: 'TCP' })),
    send: async (namespace, socket, to: Place) =>
      reached(table.send(String(namespace), socket, { ...to, protocol: 'UDP' })),
    wait: async (ms) => clock.advance(ms),
    close: async () => undefined,
  };
});
