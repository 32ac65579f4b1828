import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { endName } from '../../../ui/src/views/connectivity/end-name.ts';
import {
  firstPort,
  portsInWords,
  shortPorts,
} from '../../../ui/src/views/connectivity/port-list.ts';

describe('ports of connections', () => {
  it('are short in cells', () => {
    assert.equal(shortPorts(undefined), '–');
    assert.equal(shortPorts('No Connections'), '–');
    assert.equal(shortPorts('All Connections'), 'all');
    assert.equal(shortPorts('TCP 80,443'), 'TCP 80, 443');
    assert.equal(shortPorts('TCP 80,443,8080-8090,9000,UDP 53'), 'TCP 80, 443 +2; UDP 53');
    assert.equal(shortPorts('TCP 1-65535'), 'TCP all');
  });

  it('are complete in sentences', () => {
    assert.equal(portsInWords('TCP 80,8080-8090,UDP 53'), 'TCP 80, 8080-8090 and UDP 53');
    assert.equal(portsInWords('All Connections'), 'everything');
  });

  it('lead to a trace of the first one that can be traced', () => {
    assert.equal(firstPort('SCTP 9,TCP 8080-8090,UDP 53'), 'TCP/8080');
    assert.equal(firstPort('SCTP 9'), '');
    assert.equal(firstPort('All Connections'), '');
  });
});

describe('names of ends', () => {
  it('have namespace and kind apart', () => {
    assert.deepEqual(endName('shop/web[Deployment]'), {
      namespace: 'shop',
      name: 'web',
      kind: 'Deployment',
    });
    assert.equal(endName('0.0.0.0-255.255.255.255[External]').name, 'any IPv4');
    assert.equal(endName('192.0.2.1-192.0.2.1[External]').name, '192.0.2.1');
    assert.equal(endName('2001:db8::-2001:db8::f[External]').name, '2001:db8::-2001:db8::f');
  });
});
