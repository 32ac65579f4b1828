/** Servers and clients of a network namespace; ends with its input. */
import { createInterface } from 'node:readline';
import type { Command, Connection, Replies } from './commands.ts';
import { Flow } from './flow.ts';
import { serve } from './servers.ts';
import { openTcp, transfer } from './tcp.ts';
import { firstAnswer, openUdp, probe } from './udp.ts';

/** Connections at a time: as many as a machine with two cores answers without delay. */
const AT_ONCE = 16;

const connections = new Map<number, Connection>();
const flows = new Map<number, Flow>();
let lastId = 0;

const openOne = ({
  target,
}: Extract<Command, { do: 'connect' | 'open' | 'openFlow' }>): Promise<Connection> =>
  target.protocol === 'TCP' ? openTcp(target) : openUdp(target);

async function many<T>(count: number, one: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const inTurn = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = await one(n);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, inTurn));
  return results;
}

async function run(command: Command): Promise<Replies[keyof Replies]> {
  switch (command.do) {
    case 'serve':
      await serve(command);
      return null;
    case 'connect':
      return many(command.count, async () => {
        const connection = await openOne(command);
        connection.close();
        return connection.answer;
      });
    case 'open':
      return many(command.count, async () => {
        const connection = await openOne(command);
        const id = ++lastId;
        connections.set(id, connection);
        return { id, answer: connection.answer };
      });
    case 'check': {
      const { ids } = command;
      const alive = await many(ids.length, (n) => connections.get(ids[n]!)!.check());
      return ids.filter((_, n) => !alive[n]);
    }
    case 'close':
      for (const id of command.ids) {
        connections.get(id)!.close();
        connections.delete(id);
      }
      return null;
    case 'openFlow': {
      const connection = await openOne(command);
      const id = ++lastId;
      if (connection.answer.result === 'answered') flows.set(id, new Flow(connection));
      return { id, answer: connection.answer };
    }
    case 'readFlow':
      return flows.get(command.id)!.report();
    case 'probe':
      return probe(command.target, command.seconds);
    case 'firstAnswer':
      return firstAnswer(command.target);
    case 'transfer':
      return transfer(command.target, command.megabytes);
  }
}

createInterface(process.stdin)
  .on('line', async (line) => {
    const { number, command } = JSON.parse(line) as { number: number; command: Command };
    const reply = await run(command).then(
      (value) => ({ number, value }),
      (error: Error) => ({ number, error: String(error.stack) }),
    );
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  })
  .on('close', () => process.exit(0));
