/** Results of the last run of each suite, kept as JSON beside the programs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';

export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Of a failure, or why it skipped itself. */
  readonly message: string;
  readonly seconds?: number | undefined;
}

export interface SuiteResult {
  readonly suite: string;
  /** Hashes of the folders that it proves, as in the report. */
  readonly trees: readonly string[];
  /** Of the cluster: `2 nodes, kube-proxy in mode iptables`. */
  readonly cluster: string;
  readonly seconds: number;
  readonly cases: readonly CaseResult[];
  /** Measured values, a sentence each. */
  readonly measures: readonly string[];
}

const fileOf = (suite: string): string => join(folderOf('results'), `${suite}.json`);

export function writeResult(result: SuiteResult): void {
  writeFileSync(fileOf(result.suite), JSON.stringify(result, undefined, 1));
}

export function readResult(suite: string): SuiteResult | undefined {
  return existsSync(fileOf(suite)) ? JSON.parse(readFileSync(fileOf(suite), 'utf8')) : undefined;
}
