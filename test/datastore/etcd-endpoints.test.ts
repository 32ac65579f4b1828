import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressesOf, StoreConfigError } from '#datastore/etcd/options.ts';

describe('an endpoint of etcd', () => {
  for (const [endpoint, address, secure] of [
    ['10.0.0.1:1234', '10.0.0.1:1234', false],
    ['etcd.example', 'etcd.example:2379', false],
    ['http://etcd.example', 'etcd.example:2379', false],
    ['HTTP://etcd.example:80/', 'etcd.example:80', false],
    ['https://[fd00::1]', '[fd00::1]:2379', true],
    ['unix:/run/etcd/client:0', 'unix:/run/etcd/client:0', false],
    ['[fd00::1]:99', '[fd00::1]:99', false],
  ] as const)
    it(`${endpoint} is ${address}`, () => {
      assert.deepEqual(addressesOf({ endpoints: [endpoint] }), { secure, addresses: [address] });
    });

  for (const endpoint of [
    'a:99999',
    'a:0',
    'http://a:1/path',
    'a/b',
    'ftp://a:1',
    'fd00::1',
    'a:x',
  ])
    it(`${endpoint} is refused by name`, () => {
      assert.throws(
        () => addressesOf({ endpoints: ['b:1', endpoint] }),
        (error: Error) => error instanceof StoreConfigError && error.message.includes(endpoint),
      );
    });
});
