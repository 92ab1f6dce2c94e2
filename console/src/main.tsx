import "./ui/base.css";
import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient, transport } from "./api/client.ts";
import { router } from "./router.tsx";
import { applyTheme } from "./shell/theme.ts";
import { locale } from "./words.ts";

applyTheme();
document.documentElement.lang = locale;
// A chunk of an older build that the server no longer has: the newest page has all of its own.
addEventListener("vite:preloadError", () => location.reload());

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <TransportProvider transport={transport}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </TransportProvider>
    </StrictMode>,
  );
