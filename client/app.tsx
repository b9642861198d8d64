// The root component: the matched page inside the boundary that shows the error page.
import { useRoutes } from "react-router-dom";
import { ErrorBoundary } from "./components/error-boundary.tsx";
import { FailedPostContext, type FailedPost } from "./early-access/failed-post.ts";
import { ErrorPage } from "./pages/error.tsx";
import { routes, type PageRoute } from "./routes.tsx";
import { SettingsContext, type PageSettings } from "./site-settings.ts";

interface Props {
  table?: PageRoute[];
  failedPost?: FailedPost | undefined;
  settings: PageSettings;
}

export function App({ table = routes, failedPost, settings }: Props) {
  return (
    <SettingsContext value={settings}>
      <ErrorBoundary fallback={<ErrorPage />}>
        <FailedPostContext value={failedPost}>
          <Page table={table} />
        </FailedPostContext>
      </ErrorBoundary>
    </SettingsContext>
  );
}

function Page({ table }: { table: PageRoute[] }) {
  return useRoutes(table);
}
