/** Checks docs/simulation.md, which lists the differences between the simulations and VPP and Linux. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { SimDhcpServer } from '#simulator/vpp/dhcp.ts';
import { startProcess } from '#simulator/vpp/vpp-process.ts';
import { linuxExamples } from '#test/descriptors/compliance/linux-examples.ts';
import type { Example } from '#test/descriptors/compliance/suite.ts';
import { vppExamples } from '#test/descriptors/compliance/vpp-examples.ts';
import { linuxFamilies } from '#test/descriptors/transitions/families/linux.ts';
import { vppFamilies } from '#test/descriptors/transitions/families/vpp.ts';
import type { Family } from '#test/descriptors/transitions/family.ts';
import { EXISTING_LINK, simulatedSpaces } from '#test/linux/descriptors/backends.ts';
import { hostLinks } from '#test/vpp/descriptors/backends.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { sessionMessages } from '#vpp/binapi/used-messages.ts';

const page = readFileSync('docs/simulation.md', 'utf8');

/** Cells of the table below a heading, row by row, without the header row. */
function table(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [text = ''] = section.split('\n## ');
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The server handles these messages itself. */
function isOfSession(name: string): boolean {
  return (sessionMessages as readonly string[]).includes(name);
}

function named(cell = ''): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
}

describe('docs/simulation.md', () => {
  test('lists the examples and families that are left out on one side, with the reason', () => {
    const all: readonly Pick<Example & Family, 'name' | 'requiresTaps'>[] = [
      ...vppExamples(hostLinks),
      ...vppFamilies,
      ...linuxExamples(simulatedSpaces.pods, EXISTING_LINK),
      ...linuxFamilies(simulatedSpaces.pods),
    ];
    const leftOut = all.some(({ requiresTaps }) => requiresTaps)
      ? ['VPP: needs /dev/vhost-net: load the kernel module vhost_net']
      : [];
    const documented = table('Left out').map(([where, reason]) => `${where}: ${reason}`);
    assert.deepEqual(documented, leftOut);
  });

  test('lists the used messages that are not simulated', () => {
    const clock = new ManualClock();
    const { handlerGroups: parts } = startProcess({
      host: undefined,
      clock,
      random: seededRandom(1),
      dhcpServer: new SimDhcpServer(),
      crash: () => undefined,
    });
    const known = new Set(
      parts.flatMap(({ requests, dumps }) => Object.keys({ ...requests, ...dumps })),
    );
    const offered = [...bundledCatalog().services.keys()];
    const missing = offered.filter((name) => !known.has(name) && !isOfSession(name));
    const listed = table('Messages that are not simulated').flatMap(([messages]) =>
      named(messages),
    );
    assert.deepEqual(listed.sort(), missing.sort());
  });

  test('names the place in the code for each state that is not compared', () => {
    const rows = table('Not compared');
    assert.ok(rows.length > 4);
    for (const [what, , where] of rows) {
      const [file = '', token = ''] = named(where);
      assert.ok(token !== '' && readFileSync(file, 'utf8').includes(token), `${what}: ${where}`);
    }
  });
});
