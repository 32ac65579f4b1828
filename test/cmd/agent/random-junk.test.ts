/** Random junk in every record and value that an agent reads: no restart, no pod without network. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { registeredModels } from '#models/registry.ts';
import { addPod, until } from './harness.ts';
import { nodeWithNics, Scenario, setNodeConfig } from './scenario.ts';

const KEYS = [
  ...['nodeconfig', 'node', 'vppnode', 'pod', 'policy', 'service', 'custom-ipam'] as const,
];
