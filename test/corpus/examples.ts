/**
 * Requests to VPP and Linux that create, update and delete each example value of the compliance
 * suites, one operation after the other, and the retrieved values.
 */
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import { Driver, readBack } from '#test/descriptors/compliance/driver.ts';
import { hostLinkStub } from '#test/descriptors/compliance/host-link-stub.ts';
import { linuxExamples } from '#test/descriptors/compliance/linux-examples.ts';
import type { Example } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import {
  backendOn,
  EXISTING_LINK,
  simulatedSpaces,
  withHostLinkStub,
} from '#test/linux/descriptors/backends.ts';
import { hostLinks } from '#test/vpp/descriptors/backends.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { normalized, requestLines } from './normalize.ts';
import { codeOf } from './record.ts';
import type { Recording } from './recording.ts';

interface Bench {
  descriptors(): readonly AnyDescriptor[];
  /** Requests since the last call. */
  takeAsked(): string[];
}

const line = (value: unknown): string => JSON.stringify(normalized(value));

export async function recordVppExamples(recording: Recording): Promise<void> {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const linux = new SimLinux(random);
  const vpp = new SimVpp({ host: linux, clock, random, log: silentLogger });
  const [a, b] = hostLinks;
  await linux.createVeth({ namespace: undefined, name: a }, { namespace: undefined, name: b });
  const client = new BinapiClient({ connect: vpp.connect(), clock, random, log: silentLogger });
  client.start();
  await client.whenConnected();
  const bench: Bench = {
    descriptors: () => [...vppDescriptors({ client, clock, log: silentLogger }), hostLinkStub],
    takeAsked: () => requestLines(vpp.requests.splice(0)),
  };
  for (const example of vppExamples(hostLinks)) await recordExample(recording, bench, example);
  await client.close();
  vpp.close();
}

export async function recordLinuxExamples(recording: Recording): Promise<void> {
  const host = new SimLinux(seededRandom(1));
  for (const path of [simulatedSpaces.own, '/run/netns/pod1', '/proc/4711/ns/net'])
    host.addNamespace(path);
  host.addNamespace('/var/run/netns/pod3');
  const backend = withHostLinkStub(
    await backendOn({
      name: 'simulation',
      host,
      spaces: simulatedSpaces,
      makeTap: async (namespace, name) => void host.openTap(name, namespace),
      close: async () => undefined,
    }),
  );
  const bench: Bench = {
    descriptors: () => backend.descriptors(),
    takeAsked: () =>
      host.operations
        .splice(0)
        .map(({ name, namespace, args }) => `${name} ${namespace ?? '-'} ${line(args)}`),
  };
  for (const example of linuxExamples(simulatedSpaces.pods, EXISTING_LINK))
    await recordExample(recording, bench, example);
}

async function recordExample(recording: Recording, bench: Bench, example: Example): Promise<void> {
  const { name, setup = [], value, change } = example;
  const driver = new Driver(bench.descriptors());
  recording.add('changes', `--- ${name}`);
  const step = async (title: string, act: () => Promise<void>) => {
    const outcome = await act().then(
      () => '',
      (error: unknown) => ` failed ${codeOf(error)}`,
    );
    const asked = bench.takeAsked();
    if (asked.length + outcome.length > 0)
      recording.add('changes', `-- ${title}${outcome}`, ...asked);
  };
  const recordValues = async (title: string) => {
    const { values } = await readBack(bench.descriptors(), driver.desired);
    recording.addLarge('read back', `--- ${name}, ${title}`);
    recording.addLarge('read back', ...[...values.values()].map(line), ...bench.takeAsked());
  };
  bench.takeAsked();
  for (const one of setup) await step('setup', () => driver.put(one.key, one.value));
  await step('create', () => driver.put(value.key, value.value));
  await recordValues('created');
  if (change) {
    await step('update', () => driver.put(value.key, change.to));
    await recordValues('updated');
    await step('update back', () => driver.put(value.key, value.value));
  }
  await step('delete', () => driver.delete(value.key));
  for (const one of [...setup].reverse()) await step('delete setup', () => driver.delete(one.key));
}
