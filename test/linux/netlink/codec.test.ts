import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LinuxError, type LinuxRoute, type RouteScope } from '#linux/api.ts';
import { addressBytes, addressText, macBytes, macText } from '#linux/netlink/addresses.ts';
import {
  attribute,
  attributesOf,
  numberAttribute,
  numberOf,
  textAttribute,
  textOf,
} from '#linux/netlink/attributes.ts';
import { addAddress, decodeAddress } from '#linux/netlink/link-addresses.ts';
import { decodeLinkReport } from '#linux/netlink/link-reports.ts';
import { decodeLink, setLink } from '#linux/netlink/links.ts';
import { decodeMessages, encodeRequest } from '#linux/netlink/messages.ts';
import { decodeNeighbor, setNeighbor } from '#linux/netlink/neighbors.ts';
import { changeRoute, decodeRoute } from '#linux/netlink/routes.ts';
import { datagram, message } from './kernel-messages.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const mac = bytes(6).map(macText);
const address = fc.oneof(bytes(4), bytes(16)).map((each) => addressText(Buffer.from(each)));
const cidr = address.chain((text) =>
  fc.integer({ min: 0, max: text.includes(':') ? 128 : 32 }).map((length) => `${text}/${length}`),
);
const number = fc.integer({ min: 0, max: 0xffff_ffff });
const index = fc.integer({ min: 1, max: 0x7fff_ffff });
const link = fc.string({ minLength: 1, maxLength: 15, unit: 'grapheme-ascii' });

/** A decoder of damaged input returns something or rejects it, and never fails otherwise. */
function assertHoldsOrThrows(decode: (input: Buffer) => unknown, input: Buffer): void {
  try {
    decode(input);
  } catch (thrown) {
    assert.ok(thrown instanceof LinuxError, String(thrown));
    assert.equal(thrown.errno, 'EPROTO');
  }
}

describe('netlink messages', () => {
  test('addresses and MACs are the same after their bytes', () => {
    fc.assert(
      fc.property(address, mac, (text, hardware) => {
        assert.equal(addressText(Buffer.from(addressBytes(text))), text);
        assert.equal(macText(macBytes(hardware)), hardware);
      }),
    );
  });

  test('an IPv4 address written as IPv6 stays IPv6', () => {
    assert.equal(addressBytes('::ffff:10.1.1.1').length, 16);
    assert.equal(addressText(Buffer.from(addressBytes('::ffff:10.1.1.1'))), '::ffff:10.1.1.1');
  });

  test('attributes are read as they were written', () => {
    const type = fc.integer({ min: 1, max: 0x3fff });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(type, fc.uint8Array({ maxLength: 300 })), { selector: ([t]) => t }),
        (parts) => {
          const encoded = Buffer.concat(parts.map(([t, payload]) => attribute(t, payload)));
          assert.equal(encoded.length % 4, 0);
          const found = attributesOf(encoded);
          assert.deepEqual(
            [...found].map(([t, payload]) => [t, [...payload]]),
            parts.map(([t, payload]) => [t, [...payload]]),
          );
        },
      ),
    );
    fc.assert(
      fc.property(number, link, (value, text) => {
        const found = attributesOf(
          Buffer.concat([numberAttribute(1, value), textAttribute(2, text)]),
        );
        assert.equal(numberOf(found, 1), value);
        assert.equal(textOf(found, 2), text);
      }),
    );
  });

  test('messages of one datagram are read as they were written', () => {
    const part = fc.record({
      type: fc.integer({ min: 16, max: 0xffff }),
      flags: fc.integer({ min: 0, max: 0xffff }),
      body: fc.uint8Array({ maxLength: 100 }),
      sequence: number,
    });
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const sent = parts.map(({ type, body, ...rest }) => datagram(type, body, rest));
        assert.deepEqual(
          decodeMessages(Buffer.concat(sent)).map(({ type, sequence, body }) => ({
            type,
            sequence,
            body: [...body],
          })),
          parts.map(({ type, sequence, body }) => ({ type, sequence, body: [...body] })),
        );
      }),
    );
  });

  test('a route, an address and a neighbor are read as they were requested', () => {
    const scope = fc.constantFrom<RouteScope>('global', 'site', 'link', 'host');
    fc.assert(
      fc.property(
        cidr,
        fc.option(address, { nil: undefined }),
        scope,
        number,
        index,
        mac,
        (destination, gateway, ofRoute, metric, device, hardware) => {
          const isV6 = destination.includes(':');
          const route: Omit<LinuxRoute, 'protocol' | 'device'> = {
            destination,
            ...(gateway !== undefined && { gateway }),
            scope: ofRoute,
            metric,
          };
          const { type, body } = changeRoute('add', device, route);
          assert.deepEqual(decodeRoute(message(type, body)), {
            destination,
            metric,
            forward: { index: device, gateway, scope: isV6 ? 'global' : ofRoute, protocol: 190 },
          });
          const ofLink = addAddress(device, destination);
          assert.deepEqual(decodeAddress(message(ofLink.type, ofLink.body)), {
            index: device,
            cidr: destination,
          });
          const [host = ''] = destination.split('/');
          const entry = setNeighbor(device, host, hardware);
          assert.deepEqual(decodeNeighbor(message(entry.type, entry.body)), {
            index: device,
            address: host,
            mac: hardware,
            permanent: true,
          });
        },
      ),
    );
  });

  test('truncated and damaged messages are rejected, or have another content', () => {
    const samples = [
      setLink(7, { up: true, mtu: 1450, mac: '02:fe:00:00:00:01', alias: 'a b' }),
      changeRoute('add', 7, {
        destination: 'fd00::/64',
        gateway: 'fe80::1',
        scope: 'global',
        metric: 5,
      }),
      addAddress(7, '10.1.1.2/24'),
      setNeighbor(7, '10.1.1.1', '02:fe:00:00:00:09'),
    ];
    const decoders = [decodeLink, decodeLinkReport, decodeRoute, decodeAddress, decodeNeighbor];
    const read = (input: Buffer): void => {
      for (const each of decodeMessages(input))
        for (const decode of decoders) assertHoldsOrThrows(() => decode(each), input);
    };
    for (const sample of samples) {
      const whole = encodeRequest(sample, 1);
      for (let length = 1; length < whole.length; length++)
        assert.throws(() => decodeMessages(whole.subarray(0, length)), LinuxError);
      for (let length = 0; length < sample.body.length; length++)
        read(datagram(sample.type, sample.body.subarray(0, length)));
      for (let position = 0; position < whole.length; position++)
        for (const value of [0, 1, 3, 0x7f, 0xff]) {
          const damaged = Buffer.from(whole);
          damaged[position] = value;
          assertHoldsOrThrows(read, damaged);
        }
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) =>
        assertHoldsOrThrows(read, Buffer.from(noise)),
      ),
      { numRuns: 2000 },
    );
  });
});
