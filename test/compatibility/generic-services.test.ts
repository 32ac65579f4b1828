/** The generic services of ligato, called as agentctl calls them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import 'protobufjs/ext/descriptor/index.js';
import { fileDescriptor } from '#compatibility/generic/file-descriptor.ts';
import { FileDescriptorSet } from '#models/generic/descriptor.gen.ts';
import {
  type Item,
  ManagerServiceService as manager,
  MetaServiceService as meta,
} from '#models/generic/generic.gen.ts';
import { messageCodec, type ServiceMethod } from '#models/message.ts';
import { methodDefinition } from '#models/method-definition.ts';
import type { DeepInput } from '#models/model.ts';
import { configModels, modelOfType } from '#models/registry.ts';
import { makeNode, type RunningAgent, startAgent, until } from '#test/cmd/agent/harness.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

/** `endpoint` alone is not the default. */
const grpc2 = {
  endpoint: '127.0.0.1:0',
  network: 'tcp',
  permission: 700,
  'force-socket-removal': true,
  'max-msg-size': 0,
  'max-concurrent-streams': 0,
  'insecure-transport': true,
  'cert-file': '',
  'key-file': '',
  'ca-files': [],
};

const LOOP = { name: 'loop1', type: 'SOFTWARE_LOOPBACK', ip_addresses: ['10.8.0.1/24'] };
const ARP = { interface: 'loop9', ip_address: '10.9.0.2', phys_address: '02:00:00:00:00:02' };

describe('the generic services of ligato', () => {
  let running: RunningAgent;
  let client: Client;
  const external = new FaultInjectingStore(new MemoryStore());
  before(async () => {
    const node = { ...makeNode(), external };
    const config = '/vnf-agent/node1/config/vpp/v2/';
    await node.cluster.put(`${config}interfaces/loop1`, JSON.stringify(LOOP));
    await node.cluster.put(`${config}arp/loop9/10.9.0.2`, JSON.stringify(ARP));
    running = await startAgent(node, { grpc2 });
    await until(() => running.agent.controller.isIdle);
    client = new Client(`127.0.0.1:${running.agent.grpcPort}`, credentials.createInsecure());
  });
  after(async () => {
    client?.close();
    await running?.stop();
  });

  const call = <Request extends object, Response extends object>(
    method: ServiceMethod<Request, Response>,
    request: DeepInput<Request>,
  ): Promise<Response> => {
    const { path, requestSerialize, responseDeserialize } = methodDefinition(method);
    const value = messageCodec(method.request).canonical(request);
    return new Promise((resolve, reject) =>
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, value, (error, reply) =>
        error ? reject(error) : resolve(reply!),
      ),
    );
  };

  it('name each model as its keys do', async () => {
    const { known_models: models } = await call(meta.KnownModels, { class: 'config' });
    assert.equal(models.length, configModels.length);
    for (const [at, { spec, proto_name, options }] of models.entries()) {
      const { keyPrefix, typeName } = configModels[at]!;
      const { module, version, type } = spec!;
      const path = `config/${module.replaceAll('.', '/')}/${version}/${type.replaceAll('.', '/')}/`;
      assert.ok(path === keyPrefix || path === `${keyPrefix}/`, `${path} is not ${keyPrefix}`);
      assert.equal(proto_name, typeName);
      const template = options.find(({ key }) => key === 'nameTemplate')?.values[0];
      assert.equal(template !== '', keyPrefix.endsWith('/'), `name template of ${typeName}`);
    }
    assert.deepEqual((await call(meta.KnownModels, { class: 'metrics' })).known_models, []);
  });

  it('describe the messages of the models, so that a client can decode the values', async () => {
    const { known_models: models } = await call(meta.KnownModels, {});
    const files = new Set(
      models.map(({ options }) => options.find(({ key }) => key === 'protoFile')!.values[0]!),
    );
    const descriptors = [];
    for (const name of files) {
      const reply = await call(meta.ProtoFileDescriptor, { full_proto_file_name: name });
      assert.equal(reply.file_descriptor?.name, name);
      const imported = reply.file_import_descriptors?.file ?? [];
      assert.deepEqual(
        reply.file_descriptor?.dependency.filter(
          (each) => !imported.some((file) => file.name === each),
        ),
        [],
      );
      descriptors.push(reply.file_descriptor!, ...imported);
    }
    const root = rootOf(descriptors);
    const { items } = await call(manager.DumpState, {});
    assert.ok(items.length > 10);
    for (const { item } of items) assertDecodes(root, item!);
  });

  it('describe maps, lists, enums and alternatives', () => {
    const { file, reflection } = meta.ProtoFileDescriptor.response;
    const { root } = reflection();
    const described = [file, ...file.imports].map((one) => fileDescriptor(one, root));
    const made = rootOf(described);
    const type = made.lookupType('ligato.generic.UpdateItem');
    assert.equal(type.fields['labels']?.map, true);
    const result = made.lookupType('ligato.generic.UpdateResult').fields['op']!.resolve();
    assert.deepEqual((result.resolvedType as protobuf.Enum).values['DELETE'], 3);
    const optional = made.lookupType('google.protobuf.FieldDescriptorProto').fields['oneof_index'];
    assert.equal(optional?.partOf?.name, '_oneof_index');
  });

  it('have the desired values with their states', async () => {
    const { items } = await call(manager.GetConfig, {
      ids: [
        { model: 'vpp.interfaces', name: 'loop1' },
        { model: 'vpp.arp', name: 'loop9/10.9.0.2' },
      ],
    });
    assert.deepEqual(
      items.map(({ item, status: state }) => [item?.id?.name, state]),
      [
        ['loop1', { status: 'CONFIGURED', message: '' }],
        ['loop9/10.9.0.2', { status: 'PENDING', message: 'interface-exists, interface-is-up' }],
      ],
    );
    const { any } = items[0]!.item!.data!;
    const model = modelOfType('ligato.vpp.interfaces.Interface')!;
    assert.equal(any?.type_url, `models.ligato.io/${model.typeName}`);
    const value = model.decodeWire(Buffer.from(any!.value, 'base64')) as typeof LOOP;
    assert.deepEqual(value.ip_addresses, LOOP.ip_addresses);
    assert.deepEqual((await call(manager.GetConfig, { labels: { mine: '' } })).items, []);
    assert.ok((await call(manager.GetConfig, { labels: { '!mine': '' } })).items.length > 10);
  });

  it('set, replace and delete values', async () => {
    const stateOf = async (name: string) => {
      const ids = [{ model: 'vpp.interfaces', name }];
      return (await call(manager.GetConfig, { ids })).items[0]?.status?.status;
    };
    const set = await call(manager.SetConfig, { updates: [update('set1'), update('set2')] });
    assert.deepEqual(
      set.results.map(({ key, status: state }) => [key, state?.status]),
      ['set1', 'set2'].map((name) => [`config/vpp/v2/interfaces/${name}`, 'CONFIGURED']),
    );
    await call(manager.SetConfig, { updates: [update('set3')], overwrite_all: true });
    assert.deepEqual([await stateOf('set1'), await stateOf('set3')], [undefined, 'CONFIGURED']);
    assert.equal(await stateOf('loop1'), 'CONFIGURED');
    const id = { model: 'vpp.interfaces', name: 'set3' };
    const deleted = await call(manager.SetConfig, { updates: [{ item: { id } }] });
    assert.equal(deleted.results[0]?.status?.status, 'NONEXISTENT');
    assert.equal(await stateOf('set3'), undefined);
  });

  it('refuse what they do not have, with what to use instead', async () => {
    const refused = async (answer: Promise<unknown>, code: status, text: RegExp) => {
      await assert.rejects(answer, (error: ServiceError) => {
        assert.equal(error.code, code);
        assert.match(error.details, text);
        return true;
      });
    };
    const name = { full_proto_file_name: 'no/such.proto' };
    await refused(call(meta.ProtoFileDescriptor, name), status.NOT_FOUND, /no\/such.proto/);
    const set = (item: DeepInput<Item>) => call(manager.SetConfig, { updates: [{ item }] });
    const any = { type_url: 'models.ligato.io/no.such.Model', value: '' };
    await refused(set({ data: { any } }), status.INVALID_ARGUMENT, /no.such.Model/);
    const gre = '0a0467726531100be20618080112093139322e302e322e311a093139322e302e322e37';
    await refused(
      set(packed(Buffer.from(gre, 'hex'))),
      status.INVALID_ARGUMENT,
      /does not have field 108/,
    );
    await refused(set(update('').item), status.INVALID_ARGUMENT, /a field of the key is not set/);
    const unnamed = { id: { model: 'vpp.interfaces', name: '' } };
    await refused(set(unnamed), status.INVALID_ARGUMENT, /a field of the key is not set/);
    external.disconnect('disk is full');
    await refused(set(update('set4').item), status.UNAVAILABLE, /disk is full/);
    external.reconnect();
    await refused(subscribed(client), status.UNIMPLEMENTED, /config-status/);
  });
});

/** An item with a loopback interface. */
function update(name: string) {
  const model = modelOfType('ligato.vpp.interfaces.Interface')!;
  return { item: packed(model.encodeWire(model.canonical({ name, type: 'SOFTWARE_LOOPBACK' }))) };
}

/** @param wire an interface */
function packed(wire: Uint8Array) {
  const value = Buffer.from(wire).toString('base64');
  const type_url = 'models.ligato.io/ligato.vpp.interfaces.Interface';
  return { data: { any: { type_url, value } } };
}

function subscribed(client: Client): Promise<unknown> {
  const { path, requestSerialize, responseDeserialize } = methodDefinition(manager.Subscribe);
  return new Promise((resolve, reject) => {
    client
      .makeServerStreamRequest(path, requestSerialize, responseDeserialize, { subscriptions: [] })
      .on('data', () => undefined)
      .on('end', resolve)
      .on('error', reject);
  });
}

/** Reflection that was made from descriptors alone. */
function rootOf(files: readonly object[]): protobuf.Root {
  const codec = messageCodec(FileDescriptorSet);
  const bytes = codec.encodeWire(codec.parse({ file: files }));
  const { Root } = protobuf as unknown as {
    Root: { fromDescriptor(set: Uint8Array): protobuf.Root };
  };
  const root = Root.fromDescriptor(bytes);
  root.resolveAll();
  return root;
}

function assertDecodes(root: protobuf.Root, { data }: Item): void {
  const { type_url, value } = data!.any!;
  const typeName = type_url.slice(type_url.indexOf('/') + 1);
  const type = root.lookupType(typeName);
  const bytes = Buffer.from(value, 'base64');
  const decoded = type.toObject(type.decode(bytes), {
    enums: String,
    longs: String,
    bytes: String,
  });
  const model = modelOfType(typeName)!;
  assert.deepEqual(model.parse(decoded), model.decodeWire(bytes));
}
