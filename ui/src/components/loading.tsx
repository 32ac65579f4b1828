/** What stands where a document will be, or instead of it. */
import type { ComponentChildren } from 'preact';
import type { RequestError } from '../agent/request.ts';
import type { Loaded } from '../agent/use-document.ts';

interface Props<T> {
  readonly of: Loaded<T>;
  /** What is loaded, in the plural or with its article: `values`, `the event`. */
  readonly what: string;
  /** Permission group of the document; default: read. */
  readonly permission?: string;
  readonly children: (document: T) => ComponentChildren;
}

/** Shows the last document with the error of a later request above it. */
export function Loading<T>({ of, what, permission = 'read', children }: Props<T>) {
  const { document, error, isLoading } = of;
  return (
    <>
      {error && <RequestProblem what={what} text={problemText(error, permission)} />}
      {document !== undefined
        ? children(document)
        : isLoading && <p class="quiet">Loading {what}…</p>}
    </>
  );
}

/** The frame of the page says what to do. */
function problemText({ status, message }: RequestError, permission: string): string {
  if (status === 401) return 'you are not logged in.';
  return status === 403 ? `your user does not have the permission group “${permission}”.` : message;
}

function RequestProblem({ what, text }: { readonly what: string; readonly text: string }) {
  return (
    <p class="problem" role="alert">
      Cannot read {what}: {text}
    </p>
  );
}
