import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { tour } from '#demonstration/tour.ts';

it('README has the tour', () => {
  const readme = readFileSync(resolve(import.meta.dirname, '../../README.md'), 'utf8');
  const stops = tour(`\${TMPDIR:-/tmp}/contiv-vswitch-$(id -u)/node-1/recordings`);
  assert.equal(stops.length, 5);
  for (const { command, shows } of stops)
    assert.ok(readme.includes(`# ${shows}\n${command}\n`), command);
});
