// The root component: the matched page inside the boundary that shows the error page.
import { useRoutes } from "react-router-dom";
import { ErrorBoundary } from "./components/error-boundary.tsx";
import { FormFailureContext } from "./early-access/form-failure.ts";
import type { FormFailure } from "./page-data.ts";
import { ErrorPage } from "./pages/error.tsx";
import { routes, type PageRoute } from "./routes.tsx";

interface Props {
  table?: PageRoute[];
  failure?: FormFailure | undefined;
}

export function App({ table = routes, failure }: Props) {
  return (
    <ErrorBoundary fallback={<ErrorPage />}>
      <FormFailureContext value={failure}>
        <Page table={table} />
      </FormFailureContext>
    </ErrorBoundary>
  );
}

function Page({ table }: { table: PageRoute[] }) {
  return useRoutes(table);
}
