import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import { Multiplexer } from '#infra/messaging/multiplexer.ts';
import { interfaceStateModel } from '#models/vpp/interface-state.ts';
import { MemoryBroker } from '#test/infra/messaging/memory-broker.ts';
import { until } from '#test/support/wait.ts';
import { followInterfaceStates } from '../../examples/messaging/interface-states.ts';

const TOPIC = 'if_state';

describe('examples/messaging/interface-states.ts', () => {
  it('keeps the states that agents publish, with their indexes', async () => {
    const broker = new MemoryBroker();
    const agent = new Multiplexer(broker.client('agent'), silentLogger);
    const publish = agent.protoConnection('states', interfaceStateModel).syncPublisher(TOPIC);
    const state = (name: string, oper_status: 'UP' | 'DOWN' | 'DELETED') => {
      const value = interfaceStateModel.canonical({ name, admin_status: 'UP', oper_status });
      return publish(interfaceStateModel.key(value), value);
    };
    const consumer = broker.client('consumer');
    const mux = new Multiplexer(consumer, silentLogger);
    const { states, stop } = followInterfaceStates(mux, TOPIC, silentLogger);

    await state('loop0', 'UP');
    await state('tap1', 'DOWN');
    await until('both are known', () => states.size === 2);
    assert.deepEqual(states.listNames('oper', 'DOWN'), ['tap1']);
    await state('loop0', 'DELETED');
    await state('tap1', 'UP');
    await until('both have changed', () => states.listNames('oper', 'UP').join() === 'tap1');
    assert.deepEqual(states.listAllNames(), ['tap1']);

    stop();
    await consumer.close();
  });
});
