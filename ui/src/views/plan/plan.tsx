/** What objects of Kubernetes would change, before they are applied. Nothing is ever applied here. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ClusterPlan } from '#documents/connectivity.ts';
import { postDocument, RequestError } from '../../agent/request.ts';
import { changeQuery, otherNode, place } from '../../location.ts';
import { MAX_BYTES, ManifestError, manifestObjects, plannedKinds } from './manifest.ts';
import { PlanResult } from './plan-result.tsx';

const sections = [
  ['', 'add or change', 'added'],
  ['remove', 'remove', 'removed'],
] as const;

interface Outcome {
  readonly plan?: ClusterPlan;
  readonly error?: string;
  readonly isRunning?: boolean;
}

/** It stays while other views are shown. */
let lastText = '';

export function Plan() {
  const text = useSignal(lastText);
  const outcome = useSignal<Outcome>({});
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const asked = place.value.query.get('as') ?? '';
  const [, , section] = sections.find(([value]) => value === asked) ?? sections[0];

  const setText = (value: string): void => {
    lastText = value;
    text.value = value;
  };
  const run = async (): Promise<void> => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    outcome.value = { isRunning: true };
    try {
      const objects = await manifestObjects(text.peek());
      const path = 'contiv/v1/policy/plan';
      const plan = await postDocument<ClusterPlan>(path, { [section]: objects }, abort.signal);
      if (!abort.signal.aborted) outcome.value = { plan };
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof ManifestError || error instanceof RequestError)) throw error;
      outcome.value = { error: error.message };
    }
  };
  const readFile = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > MAX_BYTES)
      outcome.value = {
        error: `${file.name} has ${(file.size / 1_000_000).toFixed(1)} MB; the agent accepts up to 1 MB.`,
      };
    else setText(await file.text());
  };
  const { plan, error, isRunning } = outcome.value;
  return (
    <>
      <p class="quiet">
        Shows what {plannedKinds.slice(0, -1).join(', ')} and {plannedKinds.at(-1)} objects would
        change. Nothing is applied: the agent computes the plan with copies of its state.
      </p>
      {otherNode !== undefined && (
        <p>
          The plan is that of the node which serves this page, not of {otherNode}: a manifest is
          sent to no other node.
        </p>
      )}
      <form
        class="plan-form"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void readFile(event.dataTransfer?.files[0]);
        }}
      >
        <label>
          Manifest in YAML or JSON: paste it, or drop a file
          <textarea
            spellcheck={false}
            rows={14}
            value={text.value}
            placeholder={EXAMPLE}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="filters">
          <label>
            File
            <input
              type="file"
              accept=".yaml,.yml,.json"
              onChange={({ currentTarget }) => void readFile(currentTarget.files?.[0])}
            />
          </label>
          <label>
            The objects are to
            <select
              value={asked}
              onChange={({ currentTarget }) => changeQuery({ as: currentTarget.value })}
            >
              {sections.map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" disabled={text.value.trim() === ''}>
            Show the plan
          </button>
        </div>
      </form>
      {error !== undefined && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      {isRunning && <p class="quiet">Loading the plan…</p>}
      {plan && <PlanResult plan={plan} />}
    </>
  );
}

const EXAMPLE = `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: default-deny
  namespace: shop
spec:
  podSelector: {}`;
