import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  agentPrefix,
  ServiceLabelError,
  serviceLabel,
} from '#infra/service-label/service-label.ts';

const FLAG = 'microservice-label';
const VARIABLE = 'MICROSERVICE_LABEL';

describe('the service label', () => {
  it('is that of the flag, else of the variable, else vpp1; empty ones do not count', () => {
    assert.equal(serviceLabel({}, {}), 'vpp1');
    assert.equal(serviceLabel({}, { [VARIABLE]: 'variable' }), 'variable');
    assert.equal(serviceLabel({ [FLAG]: 'flag' }, { [VARIABLE]: 'variable' }), 'flag');
    assert.equal(serviceLabel({ [FLAG]: '' }, { [VARIABLE]: '' }), 'vpp1');
  });

  it('gives the prefix of the keys of an agent, of this one or another', () => {
    assert.equal(agentPrefix('vpp1'), '/vnf-agent/vpp1/');
    assert.equal(agentPrefix('node-2.example.org'), '/vnf-agent/node-2.example.org/');
  });

  it('cannot reach the keys of another agent', () => {
    for (const label of ['a/b', '..', '.', '-a', 'a b', 'a\n', '/', 'ä'])
      assert.throws(() => serviceLabel({ [FLAG]: label }, {}), ServiceLabelError, label);
    for (const label of ['a', 'A1', 'node_1', '10.0.0.1'])
      assert.equal(serviceLabel({ [FLAG]: label }, {}), label);
  });
});
