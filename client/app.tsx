// The whole page: the matched route inside the boundary that shows the error page.
import { Component, type ReactNode } from "react";
import { useRoutes } from "react-router-dom";
import type { FormFailure } from "./page-data.ts";
import { FormFailureContext } from "./early-access/form-failure.ts";
import { ErrorPage } from "./pages/error.tsx";
import { routes } from "./routes.tsx";

export function App({ failure }: { failure?: FormFailure | undefined }) {
  return (
    <ErrorBoundary>
      <FormFailureContext value={failure}>
        <Routes />
      </FormFailureContext>
    </ErrorBoundary>
  );
}

function Routes() {
  return useRoutes(routes);
}

/** Only the browser uses it: on the server a throwing route rejects, and the answer is a 500. */
class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? <ErrorPage /> : this.props.children;
  }
}
