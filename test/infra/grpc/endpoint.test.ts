import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { grpc2Schema, grpcSchema } from '#infra/grpc/config.ts';
import {
  GrpcConfigError,
  grpcAddress,
  grpcLimits,
  grpcTls,
  guardedGrpcAddress,
} from '#infra/grpc/endpoint.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const config = (text: string) => parseConfig(grpcSchema, text, 'grpc.conf').value;

describe('the address of the gRPC server', () => {
  it('is a unix socket by default, with the mode and removal of the file', () => {
    assert.deepEqual(grpcAddress(config('')), {
      socketPath: '/var/run/contiv/cni.sock',
      mode: 0o700,
      replaceStale: true,
    });
    const text = 'endpoint: /run/x.sock\npermission: 660\nforce-socket-removal: false';
    assert.deepEqual(grpcAddress(config(text)), {
      socketPath: '/run/x.sock',
      mode: 0o660,
      replaceStale: false,
    });
  });

  it('is a port with network tcp, and never a socket with the name of an address', () => {
    for (const [network, endpoint, host] of [
      ['tcp', '127.0.0.1:9111', '127.0.0.1'],
      ['tcp4', '127.1.2.3:9111', '127.1.2.3'],
      ['tcp6', '"[::1]:9111"', '::1'],
      ['tcp', 'localhost:9111', 'localhost'],
    ])
      assert.deepEqual(grpcAddress(config(`network: ${network}\nendpoint: ${endpoint}`)), {
        host,
        port: 9111,
      });
    for (const text of [
      'endpoint: 127.0.0.1:9111',
      'endpoint: cni.sock',
      'network: tcp',
      'network: tcp\nendpoint: 127.0.0.1',
    ])
      assert.throws(() => grpcAddress(config(text)), GrpcConfigError, text);
    assert.throws(() => config('network: unixpacket'), /has to be one of unix, tcp, tcp4, tcp6/);
  });

  it('is on a network only if clients need a certificate', () => {
    for (const endpoint of ['0.0.0.0:9111', ':9111', '192.0.2.1:9111', 'node1:9111', '"[::]:9111"'])
      for (const more of ['', 'insecure-transport: true', 'cert-file: a\nkey-file: b'])
        assert.throws(
          () => grpcAddress(config(`network: tcp\nendpoint: ${endpoint}\n${more}`)),
          /requires cert-file, key-file and ca-files/,
          endpoint,
        );
    const text = 'network: tcp6\nendpoint: :9111\nca-files: [a]';
    assert.deepEqual(grpcAddress(config(text)), { host: '::', port: 9111 });
  });
});

describe('TLS of the gRPC server', { skip: withoutOpenssl() }, () => {
  it('is off by default, and refused if it is incomplete', () => {
    const folder = temporaryFolder('grpc');
    makeCertificate(folder, 'ca', 'ca');
    const [cert, key] = [join(folder, 'ca.crt'), join(folder, 'ca.key')];
    const junk = join(folder, 'junk');
    writeFileSync(junk, 'junk');
    assert.equal(grpcTls(config('insecure-transport: true')), undefined);
    for (const [text, reason] of [
      [`cert-file: ${cert}`, /must both be set/],
      [`key-file: ${key}`, /must both be set/],
      [`ca-files: [${cert}]`, /must both be set/],
      [`cert-file: ${cert}\nkey-file: ${key}\ninsecure-transport: true`, /excludes/],
      [`cert-file: ${cert}\nkey-file: /nowhere`, /\/nowhere: cannot be read/],
      [`cert-file: ${junk}\nkey-file: ${key}`, /invalid certificate or key/],
      [`cert-file: ${cert}\nkey-file: ${key}\nca-files: [/nowhere]`, /\/nowhere: cannot be read/],
    ] as const)
      assert.throws(
        () => grpcTls(config(text)),
        (error: Error) => error instanceof GrpcConfigError && reason.test(error.message),
        text,
      );
    const text = `cert-file: ${cert}\nkey-file: ${key}`;
    assert.equal(grpcTls(config(text))!.requestCert, false);
    assert.equal(grpcTls(config(`${text}\nca-files: [${cert}]`))!.requestCert, true);
  });
});

describe('the limits of the gRPC server', () => {
  it('are those of the file, or their defaults', () => {
    assert.deepEqual(grpcLimits(config('')), {
      maxMessageBytes: 4 * 1024 * 1024,
      maxCallsPerConnection: 100,
    });
    assert.deepEqual(grpcLimits(config('max-msg-size: 4096\nmax-concurrent-streams: 5')), {
      maxMessageBytes: 4096,
      maxCallsPerConnection: 5,
    });
    assert.throws(() => config('max-msg-size: 1'), /max-msg-size: has to be 0 or at least 4096/);
  });
});

describe('the address of the services for external configuration', () => {
  const guarded = (text: string) =>
    guardedGrpcAddress(parseConfig(grpc2Schema, text, 'grpc2.conf').value);

  it('is port 9111 of the loopback address by default', () => {
    const address = { host: '127.0.0.1', port: 9111 };
    assert.deepEqual(guarded(''), { address, isReplaced: false });
  });

  it('is the loopback address instead of one that others reach without a certificate', () => {
    for (const [endpoint, host] of [
      // of the deployment of the original
      ['0.0.0.0:9111', '127.0.0.1'],
      [':9111', '127.0.0.1'],
      ['192.0.2.1:9111', '127.0.0.1'],
      ['node1:9111', '127.0.0.1'],
      ['"[::]:9111"', '::1'],
    ] as const)
      assert.deepEqual(
        guarded(`endpoint: ${endpoint}`),
        { address: { host, port: 9111 }, isReplaced: true },
        endpoint,
      );
  });

  it('is the configured one where clients need a certificate', () => {
    const text = 'endpoint: 0.0.0.0:9111\nca-files: [a]';
    const address = { host: '0.0.0.0', port: 9111 };
    assert.deepEqual(guarded(text), { address, isReplaced: false });
  });

  it('may be a unix socket, and is rejected if it is none of them', () => {
    const { address } = guarded('network: unix\nendpoint: /run/external.sock');
    assert.ok('socketPath' in address && address.socketPath === '/run/external.sock');
    for (const text of ['endpoint: node1', 'network: unix\nendpoint: 127.0.0.1:9111'])
      assert.throws(() => guarded(text), GrpcConfigError, text);
  });
});
