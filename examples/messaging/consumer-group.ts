/**
 * Follows the states of interfaces as a member of a consumer group, whose members share the partitions of the topic:
 * `node examples/messaging/consumer-group.ts localhost 9092 my-group if_state`
 */
import { connectKafka, Multiplexer, silentLogger, systemClock, systemRandom } from 'contiv-vswitch';
import { followInterfaceStates } from './interface-states.ts';

const [host = 'localhost', port = '9092', groupId = 'example', topic = 'if_state'] =
  process.argv.slice(2);
const client = await connectKafka({
  options: { brokers: [{ host, port: Number(port) }], groupId, clientId: 'example' },
  clock: systemClock,
  random: systemRandom,
  log: silentLogger,
});
const { states } = followInterfaceStates(
  new Multiplexer(client, silentLogger),
  topic,
  silentLogger,
);
states.watch('example', ({ name, value }) => console.log(name, value.oper_status));
