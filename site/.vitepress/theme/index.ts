import { type Theme, useData } from "vitepress";
import DefaultTheme from "vitepress/theme";
import { h } from "vue";
import { VersionMenu } from "./version-menu.ts";
import "./style.css";

export default {
  extends: DefaultTheme,
  // The site of a server has one version.
  Layout: () =>
    h(
      DefaultTheme.Layout,
      null,
      useData().site.value.cleanUrls ? {} : { "nav-bar-content-before": () => h(VersionMenu) },
    ),
} satisfies Theme;
