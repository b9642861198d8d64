// The whole page: the matched route inside the boundary that shows the error page.
import { useRoutes } from "react-router-dom";
import { ErrorBoundary } from "./components/error-boundary.tsx";
import { FormFailureContext } from "./early-access/form-failure.ts";
import type { FormFailure } from "./page-data.ts";
import { ErrorPage } from "./pages/error.tsx";
import { routes } from "./routes.tsx";

export function App({ failure }: { failure?: FormFailure | undefined }) {
  return (
    <ErrorBoundary fallback={<ErrorPage />}>
      <FormFailureContext value={failure}>
        <Routes />
      </FormFailureContext>
    </ErrorBoundary>
  );
}

function Routes() {
  return useRoutes(routes);
}
