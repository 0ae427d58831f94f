// defcc422dd13bc5c2a1c02d468db146d
"use strict";var guard_rules=require("./guard-rules.cjs");var w=guard_rules,i=guard_rules,e=guard_rules,d=guard_rules;var N=guard_rules,m=guard_rules,j=guard_rules;function g(t,r,n=!1){return r.length===0?t.stdin??"":r.map(s=>s==="-"||s==="/dev/stdin"?t.stdin??"":(t.file("read",s,{recursive:n}),/^\/dev\/(zero|u?random)$/.test(s)?m.ENDLESS:t.content(s))).join("")}var H=({words:t})=>{let r=t.filter(n=>!n.startsWith("-"));return r.length===0?e.PRIVATE:r.map(h).join(`
`)};function h(t){return(0,w.isSecretName)(t)?(0,e.secretOf)(t):e.UNKNOWN}var S=({words:t})=>{let r=(0,i.readArgs)(t,{letters:"fs",long:["format","separator"]});if(r.rest.some(o=>/^inf|^\d{10,}$/i.test(o)))return e.ENDLESS;let n=r.value("f","format");if(n!==void 0)return`${n.replace(/%[\d.]*[aefg]/gi,"1")}
`;let s=r.rest.at(-1)??"";return r.rest.length<3&&/^\d{2,}$/.test(s)?`1
${s}
`:`1
`},b=t=>{let r=(0,i.readArgs)(t.words,{letters:"p",long:["tmpdir","suffix"]}),[n]=r.rest;return`${(n?.includes("/")?n:`${r.value("p","tmpdir")??"/tmp"}/${n??"tmp.XXXX"}`).replace(/X{3,}/,"made-by-mktemp")}
`},A=()=>`./${e.UNKNOWN}
`,E=t=>{let r=(0,i.readArgs)(t.words,{letters:"IwT"}),{context:n}=t.shell.world;if(r.has("d","directory"))return`${r.rest.join(`
`)}
`;let s=r.rest.filter(o=>(0,e.hasGlob)(o)||(0,d.isSecretFile)(t.path(o),n,!1));if(s.length>0)return`${s.join(`
`)}
./${e.UNKNOWN}
`;if(r.rest.some(o=>o!==".")){let o=r.rest.flatMap(a=>(0,d.hiddenIn)(t.path(a),n));return`./${e.UNKNOWN}
${(r.has("a","A","all","almost-all")?o:[]).map(a=>`${a}
`).join("")}`}return r.has("a","A","all","almost-all")?`./${e.STAR}
./.${e.STAR}
`:`./${e.STAR}
`},k={letters:"dfr",long:["date","file","reference"]},$=t=>{let r=/^--(arg|argjson|slurpfile|rawfile)$/,n=t.words.filter((c,l,x)=>!r.test(x[l-2]??""));for(let[c,l]of t.words.entries())/^--(slurp|raw)file$/.test(l)&&t.file("read",t.words[c+2]??"");let s=(0,i.readArgs)(n,{letters:"L",long:["arg","argjson","slurpfile","rawfile","indent","from-file"]}),[o="",...a]=s.rest,f=g(t,a),[p]=(0,e.secretsIn)(t.words.join(" "));if(p!==void 0&&o.includes("$"))return(0,e.secretOf)(p);if(/^\s*"(?:[^"\\]|\\["\\/])*"\s*$/.test(o))return`${JSON.parse(o)}
`;let[y,u]=/(?:^|[|(,\s])(?:env|\$ENV)\b(?:\.(\w+))?/.exec(o)??[];return y?u?h(u):e.PRIVATE:(0,e.isPlain)(f)&&/^(\.\w+|\.?\[\d+\])+$/.test(o)?O(f,o):f.replaceAll(e.UNKNOWN,"")===""?e.UNKNOWN:f};function O(t,r){try{let n=JSON.parse(t);for(let s of r.match(/\w+/g)??[])n=Object(n)[s];return`${typeof n=="string"?n:JSON.stringify(n)}
`}catch{return e.UNKNOWN}}var v={ls:E,jq:$,yq:$,expr:({words:t})=>t.length===1?`${t[0]}
`:e.UNKNOWN,printenv:H,yes:({words:t})=>`${t.length===0?"y":t.join(" ")}
${e.ENDLESS}`,mktemp:b,tree:A,pwd:({shell:t})=>`${t.cwd}
`,dirname:({words:t})=>`${(t.at(-1)??"").replace(/\/+[^/]*\/*$/,"")||(t.at(-1)?.startsWith("/")?"/":".")}
`,basename:({words:t})=>`${(t[0]??"").replace(/\/+$/,"").split("/").at(-1)}
`,realpath:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,readlink:t=>`${t.path((0,i.readArgs)(t.words).rest[0]??".")}
`,type:()=>e.UNKNOWN,seq:S,whoami:({shell:t})=>`${t.world.context.home.split("/").at(-1)}
`,date:t=>{t.words.some(n=>n.startsWith("-"))&&(0,i.readArgs)(t.words,k).has("s","set")&&t.act("deny","system-config","sets the clock of the machine","Leave it to a person.");let r=t.words.find(n=>n.startsWith("+"))?.slice(1);return r===void 0?e.UNKNOWN:`${r.replace(/%[-_0^#]?\w/g,"1")}
`},test:()=>"","[":()=>"",true:()=>"",false:()=>"",":":()=>"",sleep:()=>"",stat:()=>e.UNKNOWN,file:t=>{for(let r of(0,i.readArgs)(t.words,{letters:"fFmPe"}).all("f"))t.file("read",r);return e.UNKNOWN},du:()=>e.UNKNOWN};module.exports={answers:v};
